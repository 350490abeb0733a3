: "${W:?}"
# usage: blas.sh MODE LINKARGS...
mode=$1; shift
T=$W/src/lapack-3.11.0/BLAS/TESTING; mkdir -p b/blas/obj b/blas/$mode
for p in s d c z; do for l in 1 2 3; do o=b/blas/obj/${p}blat$l.o
 [ -f $o ] || gfortran -O2 -w -c $T/${p}blat$l.f -o $o
 gfortran -o b/blas/$mode/xblat$l$p $o "$@" || echo "LINK FAIL $mode $p $l"
done; done
