#!/bin/bash
# Builds programs of eight C libraries three times: linked, with latebind's stub, and with Implib.so. Runs the same tests with
# each. On Debian 12 with deb-src, as root; latebind, cmake, meson and ninja on PATH:
#     examples/stubs/beside_implib/run.sh FOLDER IMPLIB-GEN.PY [blas expat libxml2 pcre2 sqlite archive alsa git2]
here=$(cd "$(dirname "$0")" && pwd); mkdir -p "$1"; export W=$(cd "$1" && pwd); IMPLIB=$(realpath "$2"); shift 2
L=/usr/lib/x86_64-linux-gnu; cp "$here"/*.sh "$W"; rm -rf "$W/desc"; cp -r "$here/descriptions" "$W/desc"; cd "$W"; mkdir -p src log b st im
ALL=${*:-blas expat libxml2 pcre2 sqlite archive alsa git2}
apt-get install -y --no-upgrade --no-install-recommends gfortran libblas3 libblas-dev libarchive-dev libasound2-dev libexpat1-dev libsqlite3-dev libxml2-dev libpcre2-dev tcl-dev libacl1-dev libgit2-dev >log/apt 2>&1
source_of() { ls -d src/$1-[0-9]*/ >/dev/null 2>&1 || (cd src; apt-get source --download-only $1 >>../log/apt 2>&1; dpkg-source --no-check -x $(ls $1_*.dsc | tail -1) >>../log/apt 2>&1); }
stub() { rm -rf st/$2; shift; d=$1; shift; for t in "$@"; do latebind stub desc/$t.toml --output st/$d >>log/stub 2>&1 || echo "latebind stub $t FAILED"; done; }
implib() { d=$1; shift; rm -rf im/$d; mkdir -p im/$d; (cd im/$d; python3 $IMPLIB -q "$@" 2>>$W/log/implib; for f in *.S *.c; do gcc -O2 -c $f; done; rm -f lib$d.a; ar rcs lib$d.a *.o); }
size() { for m in linked lb im; do for p in "${@:2}"; do strip -o $W/stripped b/$1/$m/$p && echo "size $1 $m $p $(stat -c %s $W/stripped)"; done; done; }
hidden() { n=$1; h=$2; p=$3; shift 3; for m in linked lb im; do bash hide.sh $h b/$n/$m/$p "$@" </dev/null >log/h 2>&1; echo "hidden $n $m rc=$? $(grep -av -e '^ *#' -e '^$' log/h | head -1 | cut -c1-300)"; done; }
run_blas() { source_of lapack; rm -rf b/blas; stub x blas blas
  nm -D --defined-only $L/libblas.so.3 | awk '$2=="T"{print $3}' | grep -vx xerbla_ >im/blas.list; implib blas --symbol-list ../blas.list $L/libblas.so.3
  X=-Wl,--export-dynamic-symbol=xerbla_
  bash blas.sh linked -lblas; bash blas.sh lb $X -Lst/blas/linux-x64/lib -lblas; bash blas.sh im $X im/blas/*.o -ldl -pthread
  for m in linked lb im; do bash blastest.sh $m; done; size blas xblat1d xblat3d; hidden blas $L/libblas.so.3 xblat1d; }
xml_files() { source_of libxml2  # Debian's source lacks test/ and result/
  G=${LIBXML2_GIT:-src/libxml2-git}; [ -d $G ] || git clone -q --depth 1 -b v2.9.14 https://github.com/GNOME/libxml2 $G
  mkdir -p src/libxml2-up; git -C $G archive v2.9.14 -- test result runtest.c xmllint.c testapi.c testrecurse.c testdict.c libxml.h | tar x -C src/libxml2-up; }
run_expat() { xml_files; source_of expat; mkdir -p src/orig; tar xf src/expat_*.orig.tar.gz -C src/orig; E=$(ls -d src/orig/*xpat*/expat)
  [ -f $E/expat_config.h ] || (cd src/expat-*/expat && { [ -f expat_config.h ] || { ./buildconf.sh && ./configure --without-docbook --disable-static; } >/dev/null 2>&1; }; cp expat_config.h $W/$E/)
  rm -rf b/expat; stub x expat expat; implib expat $L/libexpat.so.1
  bash expat.sh linked -lexpat; bash expat.sh lb -Lst/expat/linux-x64/lib -lexpat; bash expat.sh im im/expat/*.o -ldl -pthread
  for m in linked lb im; do bash expattest.sh $m; done; size expat xmlwf runtests; hidden expat $L/libexpat.so.1 xmlwf /usr/share/mime/packages/freedesktop.org.xml; }
run_libxml2() { xml_files
  [ -f src/libxml2-2*/config.h ] || (cd src/libxml2-2*/ && ./configure --without-python --without-zlib --without-lzma >/dev/null 2>&1)
  rm -rf b/libxml2; mkdir -p b/libxml2/cfg; cp src/libxml2-2*/config.h b/libxml2/cfg/; stub x libxml2 libxml2; implib libxml2 $L/libxml2.so.2
  bash libxml2.sh linked "" -lxml2; bash libxml2.sh lb "-Ist/libxml2/linux-x64/include -include desc/xml_all.h" -Lst/libxml2/linux-x64/lib -lxml2
  bash libxml2.sh im "-include desc/xml_im.h" im/libxml2/*.o -ldl
  for m in linked lb im; do bash libxml2test.sh $m; done; size libxml2 xmllint runtest; hidden libxml2 $L/libxml2.so.2 xmllint src/libxml2-up/test/ent1; }
run_pcre2() { source_of pcre2; [ -f src/pcre2-10.42/src/config.h ] || (cd src/pcre2-10.42; ./configure -q --enable-pcre2-16 --enable-pcre2-32 --enable-jit >/dev/null 2>&1)
  rm -rf b/pcre2; stub x pcre2 pcre2-8 pcre2-16 pcre2-32 pcre2-posix; rm -rf im/pcre2; mkdir im/pcre2
  (cd im/pcre2; for f in 8.so.0 16.so.0 32.so.0 posix.so.3; do python3 $IMPLIB -q $L/libpcre2-$f; done; for f in *.S *.c; do gcc -O2 -c $f; done)
  A="-lpcre2-posix -lpcre2-8 -lpcre2-16 -lpcre2-32"; bash pcre2.sh linked $A; bash pcre2.sh lb -Lst/pcre2/linux-x64/lib $A; bash pcre2.sh im im/pcre2/*.o -ldl -pthread
  for m in linked lb im; do bash pcre2test.sh $m; done; size pcre2 pcre2test pcre2grep; hidden pcre2 $L/libpcre2-posix.so.3 pcre2posix_test; }
run_sqlite() { source_of sqlite3; mkdir -p b/sqlite/bld; rm -rf b/sqlite/{linked,lb,im,shell.o}
  [ -f b/sqlite/bld/testfixture ] || (cd b/sqlite/bld; CFLAGS="-O1 -w" $W/src/sqlite3-3.40.1/configure -q --disable-shared --disable-readline --with-tcl=/usr/lib/tcl8.6 && make shell.c sqlite3.c && make testfixture CFLAGS="-O1 -w") >log/sqlite 2>&1
  stub x sqlite3 sqlite3; implib sqlite3 $L/libsqlite3.so.0
  bash sqlite.sh linked -lsqlite3; bash sqlite.sh lb -Lst/sqlite3/linux-x64/lib -lsqlite3; bash sqlite.sh im im/sqlite3/*.o -ldl -pthread
  for m in linked lb im; do bash sqlitetest.sh $m; done; size sqlite sqlite3; hidden sqlite $L/libsqlite3.so.0 sqlite3 :memory: 'select 1'; }
run_archive() { source_of libarchive; [ -f src/libarchive-3.6.2/config.h ] || (cd src/libarchive-3.6.2; ./configure -q --disable-static --without-xml2 --without-nettle >../../log/archive 2>&1)
  rm -rf b/archive; stub x archive archive; implib archive $L/libarchive.so.13
  bash archive.sh linked -larchive; bash archive.sh lb -Lst/archive/linux-x64/lib -larchive; bash archive.sh im im/archive/*.o -ldl -pthread
  for m in linked lb im; do bash archivetest.sh $m; done; size archive bsdtar libarchive_test; hidden archive $L/libarchive.so.13 bsdtar -cf /dev/null desc; }
run_alsa() { source_of alsa-lib; source_of alsa-utils; rm -rf b/alsa; stub x alsa alsa; implib asound $L/libasound.so.2; S=$W/st/alsa/linux-x64
  bash alsa.sh linked
  (export LIBRARY_PATH=$S/lib PKG_CONFIG_PATH=$S/lib/pkgconfig LDFLAGS=-L$S/lib VARS="-D_GNU_SOURCE -I$S/include -include alsa/asoundlib.h -include latebind/asound_variables.h"; bash alsa.sh lb)
  (export LDFLAGS=-L$W/im/asound LIBS=-ldl VARS="-D_GNU_SOURCE -include $W/desc/alsa_im.h"; bash alsa.sh im)
  for m in linked lb im; do bash alsatest.sh $m >b/alsa/$m.res; echo "alsa $m: $(grep -c rc= b/alsa/$m.res) commands, $(grep -c rc=0 b/alsa/$m.res) rc=0; other than linked: $(diff b/alsa/linked.res b/alsa/$m.res | grep -c '^>')"; done
  size alsa aplay/aplay amixer/amixer; hidden alsa $L/libasound.so.2 aplay/aplay -D null b/alsa/linked/o/a.wav; }
run_git2() { source_of libgit2; rm -rf b/git2; mkdir -p b/git2/{obj,linked,lb,im}; stub x git2 git2; implib git2 $L/libgit2.so.1.5; O=b/git2/obj
  for f in src/libgit2-*/examples/*.c; do gcc -O1 -w -D_GNU_SOURCE -c $f -o $O/$(basename $f .c).o; done
  gcc -o b/git2/linked/lg2 $O/*.o -lgit2 -pthread; gcc -o b/git2/lb/lg2 $O/*.o -Lst/git2/linux-x64/lib -lgit2 -pthread; gcc -o b/git2/im/lg2 $O/*.o im/git2/*.o -ldl -pthread
  for m in linked lb im; do bash git2test.sh $m 2>&1 | sed "s,$W/b/git2/$m,D,g" >b/git2/$m.res; echo "git2 $m: $(grep -c rc= b/git2/$m.res) commands, $(grep -c rc=0 b/git2/$m.res) rc=0; other than linked: $(diff b/git2/linked.res b/git2/$m.res | grep -c '^>')"; done
  size git2 lg2; hidden git2 $L/libgit2.so.1.5 lg2 log; }
for l in $ALL; do start=$SECONDS; echo "=== $l"; run_$l; echo "=== $l: $((SECONDS-start)) s"; done
