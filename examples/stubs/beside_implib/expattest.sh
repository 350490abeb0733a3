: "${W:?}"
m=$1; B=$PWD/b/expat/$m; $B/runtests >$B/rt.log 2>&1; echo "expat $m: runtests rc=$? $(grep -E '%' $B/rt.log)"
n=0; d=src/libxml2-up; mkdir -p $B/out; : >$B/wf.log
for f in $(find $d/test -name '*.xml' -o -name '*.svg' -o -name '*.rdf' | grep -v -i fuzz| sort); do timeout 20 $B/xmlwf -N -d $B/out $f >>$B/wf.log 2>&1; echo "$f rc=$?" >>$B/wf.log; n=$((n+1)); done
echo "expat $m: xmlwf on $n files: $(grep -c 'rc=0' $B/wf.log) rc=0, $(md5sum <$B/wf.log) $(cat $(ls -d $B/out/* | sort) | md5sum)"
