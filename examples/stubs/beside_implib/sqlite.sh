: "${W:?}"
m=$1; shift; B=b/sqlite/bld; mkdir -p b/sqlite/$m
OPT=$(sed -n 's/^SHELL_OPT *+*= *//p' $B/Makefile | grep -v '\$' | tr '\n' ' ')
[ -f b/sqlite/shell.o ] || gcc -O1 -w -I$B $OPT -c $B/shell.c -o b/sqlite/shell.o
gcc -o b/sqlite/$m/sqlite3 b/sqlite/shell.o "$@" -lm || echo FAIL
