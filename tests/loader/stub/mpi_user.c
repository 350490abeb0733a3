/* mpi_user: adds two numbers in one process by MPI, and prints the version of its binary interface. */
#include <mpi_abi.h>
#include <stdio.h>

#include "latebind/stub.h"

LB_DECLARE_STUB(mpi);

int main(int count, char** words) {
  int rank = -1, sum = 0, given = 21;
  if (MPI_Init(&count, &words)) return puts(lb_mpi_message()), 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&given, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  printf("rank %d, %d, ABI %s\n", rank, sum, lb_mpi_version());
  return MPI_Finalize();
}
