/* report.h: whether a search failed for lack of memory; must not judge a search otherwise. */
#ifndef LATENN_COMMON_REPORT_H
#define LATENN_COMMON_REPORT_H

#include <string.h>

#include "latebind/latebind.h"

/* Whether memory ran out in a search that failed, from its outcome and its report as JSON. The loader has no outcome
 * for that: the report is incomplete, or there is none. In a text of the report the quotes would be escaped. */
static inline int latenn_search_ran_out(int outcome, const char* json) {
  int has_none = strcmp(json, "{}") == 0 && outcome != LB_OUTCOME_INVALID_ARGUMENT;
  return has_none || strstr(json, "\"complete\": false") != NULL;
}

#endif
