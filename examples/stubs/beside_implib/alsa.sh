: "${W:?}"
# usage: alsa.sh MODE ; expects env to put the stub in front
m=$1; mkdir -p b/alsa/$m; cd b/alsa/$m; S=$W/src/alsa-utils-1.2.8; A=$W/src/alsa-lib-1.2.8
$S/configure -q --disable-alsamixer --disable-alsaconf --disable-bat --disable-xmlto --disable-rst2man --disable-nls --without-systemdsystemunitdir --without-udev-rules-dir CFLAGS="-O1 -w" >cfg.log 2>&1 || { tail -5 cfg.log; exit 1; }
for d in aplay amixer seq amidi speaker-test iecset; do make -s -j2 -C $d CFLAGS="-O1 -w $VARS" >>make.log 2>&1 || echo FAIL $d; done
for t in pcm_min namehint audio_time control chmap latency pcm oldapi lsb/config lsb/midi_event rawmidi timer seq; do n=$(basename $t); gcc -O1 -w $VARS -I$A/include -I$A/test -o t_$n $A/test/$t.c $LDFLAGS -lasound $LIBS -lm -pthread 2>>t.log || echo FAIL t_$n; done
