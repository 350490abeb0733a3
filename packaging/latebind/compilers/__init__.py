"""What programs are compiled for or run by: .NET, Mono and CPythons."""
