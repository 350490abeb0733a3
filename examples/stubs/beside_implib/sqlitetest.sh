: "${W:?}"
m=$1; D=$W/b/sqlite/$m; cd $D; ln -sf ../bld/testfixture testfixture; T=$W/src/sqlite3-3.40.1/test; P=
for t in shell1 shell2 shell3 shell4 shell5 shell6 shell7 shell8; do [ -f $T/$t.test ] || continue; timeout 300 ./testfixture $T/$t.test >$t.log 2>&1; rc=$?; P="$P $t:rc=$rc,$(grep -aoE '[0-9]+ errors out of [0-9]+ tests' $t.log | tr ' ' _)"; done; echo "sqlite $m:$P"
