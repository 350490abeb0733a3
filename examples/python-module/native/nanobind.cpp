// What Python sees of modrun.hpp, by nanobind.
#include "modrun.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

NB_MODULE(_modrun, module) {
  module.def("run", [](nanobind::bytes model, std::vector<float> x) {
    return modrun::Run({model.c_str(), model.size()}, std::move(x));
  });
}
