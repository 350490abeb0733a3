// What Python sees of modrun.hpp, by pybind11.
#include "modrun.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

PYBIND11_MODULE(_modrun, module) {
  module.def("run", [](const pybind11::bytes& model, std::vector<float> x) {
    return modrun::Run(static_cast<std::string_view>(model), std::move(x));
  });
}
