/* places.h: where a runtime is looked for, in this order. Made by ci/gen/places.py from loader/tables/places.toml. */
#ifndef LATEBIND_PLACES_H
#define LATEBIND_PLACES_H

/* X(step, source, name, trust) */
#define LB_PLACES(X)                                \
  X(explicit, EXPLICIT, "explicit", NAMED)          \
  X(environment, ENVIRONMENT, "environment", NAMED) \
  X(loaded, LOADED, "loaded", RUNNING)              \
  X(host, HOST, "host", HOST)                       \
  X(beside, BESIDE, "beside", JUDGED)               \
  X(package, PACKAGE, "package", JUDGED)            \
  X(system, SYSTEM, "system", FOLDER)

#endif
