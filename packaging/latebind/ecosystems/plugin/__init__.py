"""Wheels and NuGet packages of plugins: execution providers for ONNX Runtime, SQLite extensions and others."""
