/* ort_tables.c: the rows of ort_slots.h as tables. */
#include "ort_tables.h"

#define LB_ROW(name, kind, since) {#name, LB_KIND_##kind, since},
static const lb_slot lb_editor_slots[] = {LB_ORT_MODEL_EDITOR_API(LB_ROW)};
static const lb_slot lb_compile_slots[] = {LB_ORT_COMPILE_API(LB_ROW)};
static const lb_slot lb_interop_slots[] = {LB_ORT_INTEROP_API(LB_ROW)};
static const lb_slot lb_ep_slots[] = {LB_ORT_EP_API(LB_ROW)};
static const lb_slot lb_package_slots[] = {LB_ORT_MODEL_PACKAGE_API(LB_ROW)};
static const lb_slot lb_main_slots[] = {LB_ORT_API(LB_ROW)};
#undef LB_ROW

#define LB_SLOTS(slots) slots, sizeof(slots) / sizeof *(slots)
const lb_table lb_tables[LB_TABLE_COUNT] = {
    {"OrtModelEditorApi", LB_EDITOR, LB_SLOTS(lb_editor_slots), LB_SLOT_GetModelEditorApi},
    {"OrtCompileApi", LB_COMPILE, LB_SLOTS(lb_compile_slots), LB_SLOT_GetCompileApi},
    {"OrtInteropApi", LB_INTEROP, LB_SLOTS(lb_interop_slots), LB_SLOT_GetInteropApi},
    {"OrtEpApi", LB_EP, LB_SLOTS(lb_ep_slots), LB_SLOT_GetEpApi},
    {"OrtModelPackageApi", LB_PACKAGE, LB_SLOTS(lb_package_slots), LB_SLOT_GetModelPackageApi},
    {"OrtApi", LB_MAIN, LB_SLOTS(lb_main_slots), LB_SLOT_COUNT},
};

const lb_table* lb_table_of(size_t number) {
  const lb_table* table = &lb_tables[LB_TABLE_COUNT - 1];
  while (number < table->first) --table;
  return table;
}
