"""Runs one test case: environment, consumer, judgement."""
