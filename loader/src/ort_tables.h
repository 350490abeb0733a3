/* ort_tables.h: what is known of each function table of ONNX Runtime, and where its entries are in one array. */
#ifndef LATEBIND_ORT_TABLES_H
#define LATEBIND_ORT_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include "ort_slots.h"

typedef enum lb_kind {
  LB_KIND_STATUS,
  LB_KIND_POINTER,
  LB_KIND_TEXT,
  LB_KIND_NUMBER,
  LB_KIND_VOID,
  LB_KIND_CREATE,
  LB_KIND_RELEASE
} lb_kind;

typedef struct lb_slot {
  const char* name;
  lb_kind kind;
  uint32_t since; /* the API version that has it first; 14 stands for "14 or earlier" */
} lb_slot;

#define LB_ROW(name, kind, since) LB_SLOT_##name,
enum { LB_ORT_API(LB_ROW) LB_SLOT_COUNT };
#undef LB_ROW

/* Where each table begins in `lb_entries`. Each is followed by room: a header newer than this file may have more slots.
 */
enum { LB_EDITOR = 0, LB_COMPILE = 48, LB_INTEROP = 96, LB_EP = 144, LB_PACKAGE = 272, LB_MAIN = 320 };

typedef struct lb_table {
  const char* name;
  size_t first;
  const lb_slot* slots;
  size_t count;
  size_t getter; /* the slot of OrtApi that gives the table */
} lb_table;

/* The tables in the order of their entries; OrtApi is the last. */
enum { LB_TABLE_COUNT = 6 };
extern const lb_table lb_tables[LB_TABLE_COUNT];

/* The table that holds an entry. */
const lb_table* lb_table_of(size_t number);

#endif
