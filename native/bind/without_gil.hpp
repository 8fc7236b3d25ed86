// Releases the GIL for a scope.
#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

namespace kenyon {

// Before 3.14, an interpreter that exits ends every daemon thread that asks for the GIL by
// unwinding its stack. Unwinding must not leave a destructor, so the process would abort. The
// thread waits for the end of the process instead, as it does since 3.14.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  WithoutGil(const WithoutGil&) = delete;
  ~WithoutGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) pause();
    }
  }

 private:
  PyThreadState* state_;
};

}  // namespace kenyon
