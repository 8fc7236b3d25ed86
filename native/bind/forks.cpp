// The gate that forks wait at. Python calls these functions directly, as handlers of os.fork: a
// handler written in Python could be interrupted half-way.
#include "bind/bindings.hpp"
#include "fork_gate.hpp"

namespace kenyon {

namespace {

void enter() {
  if (fork_gate().try_enter()) return;
  const WithoutGil released;
  fork_gate().enter();
}

void before_fork() {
  const WithoutGil released;
  fork_gate().hold();
}

// A context in which no other thread forks.
struct NoForks {};

}  // namespace

InsideForkGate::InsideForkGate() { enter(); }

void bind_forks(nb::module_& module) {
  module.def("before_fork", before_fork);
  module.def("after_fork_in_parent", [] { fork_gate().release(); });
  module.def("after_fork_in_child", [] { fork_gate().restart(); });
  module.def("n_forks", [] { return fork_gate().generation(); });
  nb::class_<NoForks>(module, "NoForks")
      .def(nb::init<>())
      .def("__enter__", [](NoForks&) { enter(); })
      .def("__exit__", [](NoForks&, nb::args) { fork_gate().leave(); });
}

}  // namespace kenyon
