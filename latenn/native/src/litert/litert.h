/* litert.h: what the files of the LiteRT backend share; nothing here is seen by the core. */
#ifndef LATENN_LITERT_H
#define LATENN_LITERT_H

#include "../common/backend.h"
#include "api.h"

/* ---- runtime.c -------------------------------------------------------------------------------------------------- */

/* Binds LiteRT and takes its functions. `*report` as backend_bind() gives it. */
latenn_status* litert_open(const latenn_host* host, const latenn_load_options* options, litert_api* api, char** report);

/* NULL for success; else what was being done, LiteRT's word for the status, and its message ("" for none). */
latenn_status* litert_take(const latenn_host* host, LiteRtStatus failed, latenn_code code, const char* doing,
                           const char* said);

/* ---- options.c -------------------------------------------------------------------------------------------------- */

typedef struct litert_settings {
  int threads;           /* 0: the runtime's own choice */
  const char* signature; /* NULL: the first; belongs to the caller of load */
  int severity;          /* of the log, 0 (verbose) to LITERT_SILENT; -1: not given */
} litert_settings;

latenn_status* litert_read_options(const latenn_host* host, const latenn_load_options* options,
                                   litert_settings* settings);
/* What a model is compiled with. */
latenn_status* litert_make_options(const latenn_host* host, const litert_api* api, const litert_settings* settings,
                                   LiteRtOptions** options);

/* ---- model.c ---------------------------------------------------------------------------------------------------- */

struct latenn_backend_model {
  backend_described described; /* first: see backend_described */
  litert_api api;
  LiteRtEnvironment* environment;
  LiteRtModel* model;
  void* bytes; /* what a model from memory reads as long as it lives */
  LiteRtOptions* options;
  size_t signature;
  LiteRtTensorType* types; /* of inputs, then outputs, as LiteRT counts elements; dimensions of 0 where they are open */
};

latenn_status* litert_compile(const latenn_backend_model* model, LiteRtCompiledModel** compiled);

/* ---- ports.c ---------------------------------------------------------------------------------------------------- */

latenn_status* litert_read_ports(latenn_backend_model* model, LiteRtSignature* signature);

#endif
