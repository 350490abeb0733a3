# Verifies the packages of this folder on this computer: powershell -ExecutionPolicy Bypass -File verify.ps1
Set-Location $PSScriptRoot
foreach ($python in @($env:PYTHON, "py", "python", "python3")) {
    if ($python -and (Get-Command $python -ErrorAction SilentlyContinue)) {
        if ($python -eq "py") { & py -3 run.py @args } else { & $python run.py @args }
        exit $LASTEXITCODE
    }
}
[Console]::Error.WriteLine("error: there is no Python on PATH")
[Console]::Error.WriteLine("help: Install Python 3.10 or newer, or set the variable PYTHON to its path.")
exit 2
