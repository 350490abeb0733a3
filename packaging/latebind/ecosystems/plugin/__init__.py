"""Wheels and NuGet packages of plugin execution providers for ONNX Runtime."""
