: "${W:?}"
# usage: libxml2.sh MODE "CFLAGS" LINKARGS...
m=$1; C=$2; shift 2; S=src/libxml2-up; mkdir -p b/libxml2/$m
for f in runtest xmllint testapi testrecurse testdict; do
 gcc -O1 -w $C -Ib/libxml2/cfg -I$S -I/usr/include/libxml2 -o b/libxml2/$m/$f $S/$f.c "$@" -pthread -lm || echo FAIL $m $f; done
