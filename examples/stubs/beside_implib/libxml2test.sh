: "${W:?}"
m=$1; B=$W/b/libxml2/$m; cd $W/src/libxml2-up
for t in runtest testapi testrecurse testdict; do /usr/bin/time -f %es timeout 300 $B/$t > $B/$t.log 2>&1; rc=$?; echo "libxml2 $m: $t rc=$rc $(grep -aE 'Total|succeeded' $B/$t.log|tail -1)  $(tail -1 $B/$t.log)"; done
: >$B/xl.log; n=0; for f in test/*.xml test/valid/*.xml test/schemas/*.xml; do timeout 20 $B/xmllint --nonet --format --noout --memory --repeat $f >/dev/null 2>&1;  timeout 20 $B/xmllint --nonet --valid --c14n $f >>$B/xl.log 2>&1; echo "$f rc=$?" >>$B/xl.log; n=$((n+1)); done; echo "libxml2 $m: xmllint on $n files: $(md5sum <$B/xl.log)"
