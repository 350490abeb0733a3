: "${W:?}"
# usage: blastest.sh MODE
T=$W/src/lapack-3.11.0/BLAS/TESTING; cd b/blas/$1; P=0; F=0; R=
for p in s d c z; do for l in 1 2 3; do rm -f ${p}blat$l.out
 if [ $l = 1 ]; then ./xblat1$p >${p}blat1.out 2>o.1$p; rc=$?; n=$(grep -c PASS ${p}blat1.out)
 else ./xblat$l$p <$T/${p}blat$l.in >o.$l$p 2>&1; rc=$?; n=$(grep -cE 'PASSED THE .*TESTS' ${p}blat$l.out); fi
 f=$(grep -ciE 'FAIL' ${p}blat$l.out); P=$((P+n)); F=$((F+f)); [ $rc = 0 ] || R="$R xblat$l$p:rc=$rc"; done; done; echo "blas $1: passed $P, failed $F$R"
