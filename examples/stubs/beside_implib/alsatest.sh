: "${W:?}"
# usage: alsatest.sh MODE
m=$1; B=$W/b/alsa/$m; cd $B; export HOME=$B; mkdir -p o; rm -f o/*
cat > $B/.asoundrc <<'R'
pcm.tof { type file slave.pcm null file "/tmp/alsa.raw" format raw }
pcm.rt { type rate slave { pcm tof rate 48000 format S16_LE } }
pcm.mul { type plug slave { pcm mu } }
pcm.mu { type mulaw slave { pcm tof format MU_LAW } }
pcm.vol { type softvol slave.pcm null control { name "x" card 0 } }
ctl.rm { type remap child { type hw card 0 } }
R
python3 - <<'R'
import wave,math,struct
w=wave.open('o/a.wav','wb'); w.setnchannels(2); w.setsampwidth(2); w.setframerate(44100)
w.writeframes(b''.join(struct.pack('<hh',int(20000*math.sin(i/20)),int(9000*math.sin(i/33))) for i in range(44100))); w.close()
R
n=0; r() { l=$1; shift; rm -f /tmp/alsa.raw; timeout 20 "$@" >o/$l.out 2>&1 </dev/null; rc=$?; sed -i -e "s,$W/b/alsa/[a-z]*/,,g" -e "s/lt-//" -e "/Time per period/d" o/$l.out; echo "$l rc=$rc $(md5sum <o/$l.out | cut -c1-8) $([ -f /tmp/alsa.raw ] && md5sum < /tmp/alsa.raw | cut -c1-8)"; }
r null aplay/aplay -D null o/a.wav; r tof aplay/aplay -v -D tof o/a.wav; r rate aplay/aplay -v -D rt o/a.wav; r mulaw aplay/aplay -v -D mul o/a.wav; r plugnull aplay/aplay -D plug:null o/a.wav
r L aplay/aplay -L; r l aplay/aplay -l; r ver aplay/aplay --version; r dump aplay/aplay --dump-hw-params -D null o/a.wav; r rec aplay/aplay -D softvol o/a.wav
ln -sf aplay/aplay arecord; r arec ./arecord -D null -d 1 -f cd -t wav o/r.wav
r amixer amixer/amixer; r amixerc amixer/amixer -c 0 contents; r amixern amixer/amixer -D null scontrols; r amidi amidi/amidi -l; r amidiL amidi/amidi -L; r acon seq/aconnect/aconnect -l; r aplaymidi seq/aplaymidi/aplaymidi -l; r arecm seq/aplaymidi/arecordmidi -l; r spk speaker-test/speaker-test -D null -l 1 -t sine -r 48000; r iec iecset/iecset -x
for t in namehint config midi_event; do r t_$t ./t_$t; done; r t_audio_time ./t_audio_time -D null; r t_chmap ./t_chmap -D null query; r t_pcm_min sh -c 'sed s/default/null/ /dev/null; ./t_pcm_min'; r t_pcm ./t_pcm -D null -t 1 -m write ; r t_control ./t_control; r t_timer ./t_timer
