: "${W:?}"
m=$1; shift; S=src/pcre2-10.42; mkdir -p b/pcre2/obj b/pcre2/$m; O=b/pcre2/obj
for f in pcre2test pcre2grep pcre2_jit_test pcre2posix_test; do [ -f $O/$f.o ] || gcc -O2 -w -DHAVE_CONFIG_H -I$S/src -c $S/src/$f.c -o $O/$f.o
gcc -o b/pcre2/$m/$f $O/$f.o "$@" || echo FAIL $m $f; done
