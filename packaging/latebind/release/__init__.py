"""Makes a release folder with packages, SBOMs, reports, API and checksums; checks it offline by making it again."""
