: "${W:?}"
# usage: expat.sh MODE LINKARGS...
m=$1; shift; S=$(ls -d $W/src/orig/*xpat*/expat); mkdir -p b/expat/obj b/expat/$m
F="-O2 -w -DHAVE_CONFIG_H -I$S -I$S/lib"; O=b/expat/obj
for f in xmlwf xmlfile codepage unixfilemap; do [ -f $O/$f.o ] || gcc $F -c $S/xmlwf/$f.c -o $O/$f.o; done
for f in runtests chardata structdata memcheck minicheck; do [ -f $O/$f.o ] || gcc $F -c $S/tests/$f.c -o $O/$f.o; done
[ -f $O/internal.o ] || gcc -O2 -w -c desc/expat_internal.c -o $O/internal.o
gcc -o b/expat/$m/xmlwf $O/{xmlwf,xmlfile,codepage,unixfilemap}.o "$@"
gcc -o b/expat/$m/runtests $O/{runtests,chardata,structdata,memcheck,minicheck,internal}.o "$@" -lm
