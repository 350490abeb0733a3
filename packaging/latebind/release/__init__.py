"""A release as a folder that proves itself: packages, bills, reports, API, sums; checked offline by making it again."""
