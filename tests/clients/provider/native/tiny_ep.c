#define API __attribute__((visibility("default")))
API const char *CreateEpFactories(void);
API void *ReleaseEpFactory(void);
const char *CreateEpFactories(void) { return LATEBIND_EP_NAME " " LATEBIND_EP_VERSION " " LATEBIND_EP_EXCEPT; }
void *ReleaseEpFactory(void) { return 0; }
