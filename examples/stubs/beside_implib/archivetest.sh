: "${W:?}"
m=$1; B=$W/b/archive; S=$W/src/libarchive-3.6.2; mkdir -p $B/$m/tmp; export TMPDIR=$B/$m/tmp
c() { grep -aE "tests? (passed|failed)|tests? run" $1 | tail -1; }
for p in tar cpio cat; do timeout 300 $B/bsd${p}_test -q -p $B/$m/bsd$p -r $S/$p/test >$B/$m/$p.log 2>&1; echo "archive $m: bsd${p}_test rc=$? $(c $B/$m/$p.log)"; done
timeout 400 $B/$m/libarchive_test -q -r $S/libarchive/test >$B/$m/la.log 2>&1; echo "archive $m: libarchive_test rc=$? $(c $B/$m/la.log)"
rm -rf $B/$m/tmp
