"""NuGet packages, for .NET and for C and C++ with MSBuild."""
