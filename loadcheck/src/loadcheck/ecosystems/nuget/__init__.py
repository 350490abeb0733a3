"""What NuGet packages say, and the checks of them alone."""
