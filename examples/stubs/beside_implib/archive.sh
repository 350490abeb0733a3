: "${W:?}"
m=$1; shift; S=src/libarchive-3.6.2; O=b/archive/obj; mkdir -p $O b/archive/$m
if [ ! -f $O/done ]; then
 make -s -C $S libarchive/test/list.h tar/test/list.h cpio/test/list.h cat/test/list.h
 (cd $S; ls tar/*.c cpio/*.c cat/*.c libarchive_fe/*.c libarchive/test/*.c test_utils/*.c tar/test/*.c cpio/test/*.c cat/test/*.c| grep -v -e bsdtar_windows -e cpio_windows) | S=$S O=$O xargs -P2 -I{} sh -c 'f={}; d=$(dirname $f); c="gcc -O1 -w -DHAVE_CONFIG_H -I$S -I$S/libarchive -I$S/libarchive_fe -I$S/test_utils -c $S/$f"; case $d in test_utils) for t in libarchive tar cpio cat; do $c -I$S/$t/test -o $O/$(echo $t/test/$f | tr / _).o; done;; *) $c -I$S/$d -o $O/$(echo $f | tr / _).o;; esac' && touch $O/done
fi
FE=$(ls $O/libarchive_fe_*.o)
for p in tar cpio cat; do gcc -o b/archive/$m/bsd$p $(ls $O/${p}_*.o | grep -v ${p}_test_) $FE "$@" || echo FAIL $p; [ -x b/archive/bsd${p}_test ] || gcc -o b/archive/bsd${p}_test $O/${p}_test_*.o $(ls $O/${p}_cmdline.c.o | grep cpio) $O/libarchive_fe_*.o -lacl; done
# libarchive_test without the files that call private functions, which no libarchive.so exports
if [ ! -f $O/main.o ]; then mkdir -p $O/list; cat $(ls $S/libarchive/test/test_*.c | grep -v -F -f desc/archive_private_src.txt) | grep '^DEFINE_TEST' > $O/list/list.h
 gcc -O1 -w -DHAVE_CONFIG_H -I$O/list -I$S -I$S/libarchive -I$S/test_utils -I$S/libarchive/test -c $S/test_utils/test_main.c -o $O/main.o; fi
gcc -o b/archive/$m/libarchive_test $(ls $O/libarchive_test_*.o | grep -v -F -f desc/archive_private.txt | grep -v test_main) $O/main.o "$@" -lacl || echo FAIL libarchive_test
