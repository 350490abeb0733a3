/* options.c: the options of a session: their entries, and domains of custom operators. */
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static OrtStatus* ORT_API_CALL create_options(OrtSessionOptions** out) NO_EXCEPTION {
  *out = runtime_allocate(sizeof **out);
  return NULL;
}

static OrtStatus* ORT_API_CALL add_entry(OrtSessionOptions* options, const char* key, const char* value) NO_EXCEPTION {
  if (options->entry_count == MOST_ENTRIES) return runtime_fail("there is no room for the entry %s", key);
  entry* next = &options->entries[options->entry_count++];
  next->key = runtime_copy(key, strlen(key));
  next->value = runtime_copy(value, strlen(value));
  return NULL;
}

static const char* find_entry(const OrtSessionOptions* options, const char* key) {
  for (size_t i = 0; i < options->entry_count; i++) {
    if (strcmp(options->entries[i].key, key) == 0) return options->entries[i].value;
  }
  return NULL;
}

static OrtStatus* ORT_API_CALL has_entry(const OrtSessionOptions* options, const char* key, int* out) NO_EXCEPTION {
  *out = find_entry(options, key) != NULL;
  return NULL;
}

static OrtStatus* ORT_API_CALL get_entry(const OrtSessionOptions* options, const char* key, char* out,
                                         size_t* size) NO_EXCEPTION {
  const char* value = find_entry(options, key);
  return value ? runtime_hand_out(value, strlen(value), out, size) : runtime_fail("there is no entry %s", key);
}

static OrtStatus* ORT_API_CALL clone_options(const OrtSessionOptions* options, OrtSessionOptions** out) NO_EXCEPTION {
  TRY(create_options(out));
  for (size_t i = 0; i < options->entry_count; i++) {
    TRY(add_entry(*out, options->entries[i].key, options->entries[i].value));
  }
  (*out)->domain = options->domain;
  (*out)->device = options->device;
  return NULL;
}

static void ORT_API_CALL release_options(OrtSessionOptions* options) {
  for (size_t i = 0; options && i < options->entry_count; i++) {
    free(options->entries[i].key);
    free(options->entries[i].value);
  }
  free(options);
}

static OrtStatus* ORT_API_CALL create_domain(const char* name, OrtCustomOpDomain** out) NO_EXCEPTION {
  *out = runtime_allocate(sizeof **out);
  (*out)->name = runtime_copy(name, strlen(name));
  return NULL;
}

static void ORT_API_CALL release_domain(OrtCustomOpDomain* domain) {
  if (domain) free(domain->name);
  free(domain);
}

static OrtStatus* ORT_API_CALL add_op(OrtCustomOpDomain* domain, const OrtCustomOp* op) NO_EXCEPTION {
  if (domain->op) return runtime_fail("the domain %s has an operator already", domain->name);
  domain->op = op;
  return NULL;
}

static OrtStatus* ORT_API_CALL add_domain(OrtSessionOptions* options, OrtCustomOpDomain* domain) NO_EXCEPTION {
  if (options->domain) return runtime_fail("the options have the domain %s already", options->domain->name);
  options->domain = domain;
  return NULL;
}

static OrtStatus* ORT_API_CALL append_provider(OrtSessionOptions* options, OrtEnv* environment,
                                               const OrtEpDevice* const* devices, size_t count, const char* const* keys,
                                               const char* const* values, size_t size) NO_EXCEPTION {
  (void)environment, (void)keys, (void)values;
  if (count != 1 || size) return runtime_fail("one device without options is all that can be added");
  options->device = devices[0];
  return NULL;
}

void runtime_fill_option_functions(OrtApi* api) {
  api->CreateSessionOptions = create_options;
  api->CloneSessionOptions = clone_options;
  api->ReleaseSessionOptions = release_options;
  api->AddSessionConfigEntry = add_entry;
  api->HasSessionConfigEntry = has_entry;
  api->GetSessionConfigEntry = get_entry;
  api->CreateCustomOpDomain = create_domain;
  api->ReleaseCustomOpDomain = release_domain;
  api->CustomOpDomain_Add = add_op;
  api->AddCustomOpDomain = add_domain;
  api->SessionOptionsAppendExecutionProvider_V2 = append_provider;
}
