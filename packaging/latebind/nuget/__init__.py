"""NuGet's own terms, for those who make packages and those who consume them: container, nuspec, `dotnet`."""
