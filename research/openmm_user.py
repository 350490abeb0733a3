"""What research/openmm.sh runs: which platforms OpenMM has, which one it takes by itself, and what CUDA says."""

from tempfile import TemporaryDirectory

import openmm

system = openmm.System()
for _ in range(8):
    system.addParticle(1.0)
bonds, charges = openmm.HarmonicBondForce(), openmm.NonbondedForce()
bonds.addBond(0, 1, 1.0, 1000.0)
for _ in range(8):
    charges.addParticle(0.0, 0.3, 0.0)
system.addForce(bonds)
system.addForce(charges)
positions = [openmm.Vec3(number * 1.5, 0, 0) for number in range(8)]


def make(*platform):
    """A context on a platform, by default the one that OpenMM takes."""
    return openmm.Context(system, openmm.LangevinMiddleIntegrator(300, 1, 0.001), *platform)


print([openmm.Platform.getPlatform(number).getName() for number in range(openmm.Platform.getNumPlatforms())])
try:
    with TemporaryDirectory() as folder:  # where it keeps what it has compiled
        made = make(openmm.Platform.getPlatformByName("CUDA"), {"TempDirectory": folder})
    print("CUDA: context made")
except openmm.OpenMMException as error:
    print("CUDA:", error)
    made = make()
    made.setPositions(positions)
    print(made.getPlatform().getName(), made.getState(getEnergy=True).getPotentialEnergy())
