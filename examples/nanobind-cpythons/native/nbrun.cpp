// What Python sees of nbrun.hpp.
#include "nbrun.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

NB_MODULE(_nbrun, module) {
  module.def("run", [](nanobind::bytes model, std::vector<float> x) {
    return nbrun::Run({model.c_str(), model.size()}, std::move(x));
  });
}
