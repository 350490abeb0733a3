/* clang-format off */
#include <alsa/asoundlib.h>
#include <dlfcn.h>
#define IMV(v) (*(__typeof__(v)*)dlsym(dlopen("libasound.so.2", RTLD_LAZY), #v))
#define snd_config IMV(snd_config)
#define snd_seq_event_types IMV(snd_seq_event_types)
