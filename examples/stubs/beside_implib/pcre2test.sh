: "${W:?}"
m=$1; B=$W/b/pcre2/$m; S=$W/src/pcre2-10.42; cd $B; srcdir=$S bash $S/RunTest > rt.log 2>&1; echo "pcre2 $m: RunTest rc=$? OK=$(grep -cE '^  OK' rt.log) $(grep -ciE 'fail|differ' rt.log)"
for t in pcre2_jit_test pcre2posix_test; do ./$t >$t.log 2>&1; echo "pcre2 $m: $t rc=$? $(tail -1 $t.log)"; done
srcdir=$S sh $S/RunGrepTest > gt.log 2>&1; echo "pcre2 $m: RunGrepTest rc=$? $(tail -1 gt.log)"
