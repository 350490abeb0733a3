/*
 * latebind.hpp: latebind.h for C++11 and newer, in this header alone. Most classes and
 * functions wrap the C type or function of the same name with the prefix lb_.
 *
 *   static latebind::binding ort(lb_onnxruntime); // needs no constructor at run time
 *   latebind::report report = ort.bind();         // throws latebind::error; bind(report) returns the outcome instead
 */
#ifndef LATEBIND_LATEBIND_HPP
#define LATEBIND_LATEBIND_HPP

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "latebind/latebind.h"

namespace latebind {

/* lb_options with its size set. */
struct options : lb_options {
  options() noexcept : lb_options() { size = sizeof(lb_options); }
};

/* Owns an lb_report: report->message. */
class report {
 public:
  report() noexcept : report_() { report_.size = sizeof report_; }
  report(report&& other) noexcept : report() { swap(other); }
  report& operator=(report&& other) noexcept {
    swap(other);
    return *this;
  }
  ~report() { lb_report_clear(&report_); }

  const lb_report* operator->() const noexcept { return &report_; }
  const char* text() noexcept { return lb_report_text(&report_); }
  const char* json() noexcept { return lb_report_json(&report_); }
  lb_report* get() noexcept { return &report_; }

 private:
  void swap(report& other) noexcept { std::swap(report_, other.report_); }

  lb_report report_;
};

/* No usable runtime: what() is the message for users, text() the whole report. */
class error : public std::runtime_error {
 public:
  error(lb_outcome outcome, report& why) : std::runtime_error(why->message), outcome_(outcome), text_(why.text()) {}

  lb_outcome outcome() const noexcept { return outcome_; }
  const std::string& text() const noexcept { return text_; }

 private:
  lb_outcome outcome_;
  std::string text_;
};

/* A runtime and the place where it is kept once it is bound; make it static, because a runtime is never unloaded. */
class binding {
 public:
  explicit constexpr binding(const lb_runtime& runtime) noexcept : runtime_(&runtime), binding_ LB_BINDING_INIT {}
  binding(const binding&) = delete;
  binding& operator=(const binding&) = delete;

  /* LB_OUTCOME_BOUND, or why no runtime is usable. Throws nothing. */
  lb_outcome bind(report& why, const options& chosen = options()) noexcept {
    return lb_bind(&binding_, runtime_, &chosen, why.get());
  }

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
  report bind(const options& chosen = options()) {
    report made;
    const lb_outcome outcome = bind(made, chosen);
    if (outcome != LB_OUTCOME_BOUND) throw error(outcome, made);
    return made;
  }
#endif

  /* For tests: see lb_reset(). */
  void reset() noexcept { lb_reset(&binding_); }

  explicit operator bool() const noexcept { return lb_entry(&binding_) != nullptr; }
  lb_version version() const noexcept { return lb_bound_version(&binding_); }
  const lb_binding* get() const noexcept { return &binding_; }

  /* The entry symbol, or another symbol, as a function: entry<const char*()>(). nullptr if there is no such symbol. */
  template <class Function>
  Function* entry() const noexcept {
    return as<Function>(lb_entry(&binding_));
  }
  template <class Function>
  Function* symbol(const char* name) const noexcept {
    return as<Function>(lb_symbol(&binding_, name));
  }

 private:
  template <class Function>
  static Function* as(void* address) noexcept {
    Function* function = nullptr;
    static_assert(sizeof function == sizeof address, "pointers to functions and to data must have the same size");
    std::memcpy(&function, &address, sizeof function);
    return function;
  }

  const lb_runtime* runtime_;
  lb_binding binding_;
};

} // namespace latebind
#endif
