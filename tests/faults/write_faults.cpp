// A library for LD_PRELOAD that lets one of the calls fail that write files.
//
// It counts the calls that concern a path or a descriptor below the folder WRITE_FAULTS_FOLDER. The
// n-th one, or with a lasting fault each from the n-th on, meets the fault. The environment gives n
// and the fault (WRITE_FAULTS_AT, WRITE_FAULTS_FAULT), or a test that forks calls write_faults_arm.

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

// A fault above 0 is the errno of the call that fails.
constexpr int kKill = 0;
constexpr int kShort = -1;

std::atomic<long> fault_at{0};  // 0: no fault
std::atomic<int> fault_kind{kKill};
std::atomic<bool> fault_lasts{false};
std::atomic<long> n_calls{0};
std::atomic<const char*> hit{""};

const char* folder() {
  static const char* const name = std::getenv("WRITE_FAULTS_FOLDER");
  return name;
}

bool is_below(const char* path) {
  if (folder() == nullptr || path == nullptr) return false;
  const std::size_t length = std::strlen(folder());
  return std::strncmp(path, folder(), length) == 0 && (path[length] == '/' || path[length] == 0);
}

bool is_below(int descriptor) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = 0;
  return is_below(path);
}

// A path relative to a folder.
bool is_below(int at, const char* path) {
  return is_below(path) || (path != nullptr && path[0] != '/' && at != AT_FDCWD && is_below(at));
}

bool meets_fault(const char* name, bool concerned) {
  if (!concerned || fault_at == 0) return false;
  const long n = ++n_calls;
  if (n == fault_at) hit = name;
  return n == fault_at || (fault_lasts && n > fault_at);
}

void kill_here() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Counts a call, and returns whether it must fail.
bool fails(const char* name, bool concerned) {
  // Only writes can be short.
  if (fault_kind == kShort || !meets_fault(name, concerned)) return false;
  if (fault_kind == kKill) kill_here();
  errno = fault_kind;
  return true;
}

template <class... Arguments>
int call(const char* name, bool concerned, Arguments... arguments) {
  if (fails(name, concerned)) return -1;
  return reinterpret_cast<int (*)(Arguments...)>(dlsym(RTLD_NEXT, name))(arguments...);
}

bool creates(int flags) { return (flags & O_CREAT) != 0; }

// A write that meets a fault writes the first half of its bytes.
template <class... Offset>
ssize_t write_half(const char* name, int file, const void* bytes, std::size_t size, Offset... at) {
  using Write = ssize_t (*)(int, const void*, std::size_t, Offset...);
  const auto write = reinterpret_cast<Write>(dlsym(RTLD_NEXT, name));
  if (!meets_fault(name, is_below(file))) return write(file, bytes, size, at...);
  const ssize_t n_written = write(file, bytes, size / 2 + size % 2, at...);
  if (fault_kind == kKill) kill_here();
  if (fault_kind == kShort) return n_written;
  errno = fault_kind;
  return -1;
}

__attribute__((constructor)) void read_environment() {
  if (const char* at = std::getenv("WRITE_FAULTS_AT")) fault_at = std::atol(at);
  if (const char* fault = std::getenv("WRITE_FAULTS_FAULT")) fault_kind = std::atoi(fault);
}

}  // namespace

extern "C" {

// Lets the n-th call from now on meet a fault; n = 0: no call.
void write_faults_arm(long n, int fault, bool lasts) {
  fault_at = n;
  fault_kind = fault;
  fault_lasts = lasts;
  n_calls = 0;
  hit = "";
}

// The name of the n-th call, or nothing.
const char* write_faults_hit() { return hit; }
}

// The labels are the names in the C library, whose headers declare them with other exception
// specifications.
#define NAMED(name) __asm__(#name)

extern "C" {

// The C library passes the mode in the place of a third argument.
int open_(const char* path, int flags, mode_t mode) NAMED(open);
int open64_(const char* path, int flags, mode_t mode) NAMED(open64);
int openat_(int at, const char* path, int flags, mode_t mode) NAMED(openat);
int openat64_(int at, const char* path, int flags, mode_t mode) NAMED(openat64);
ssize_t write_(int file, const void* bytes, std::size_t size) NAMED(write);
ssize_t pwrite_(int file, const void* bytes, std::size_t size, off64_t at) NAMED(pwrite);
ssize_t pwrite64_(int file, const void* bytes, std::size_t size, off64_t at) NAMED(pwrite64);
int ftruncate_(int file, off64_t size) NAMED(ftruncate);
int ftruncate64_(int file, off64_t size) NAMED(ftruncate64);
int fsync_(int file) NAMED(fsync);
int fdatasync_(int file) NAMED(fdatasync);
int flock_(int file, int operation) NAMED(flock);
int fchmod_(int file, mode_t mode) NAMED(fchmod);
int fchown_(int file, uid_t owner, gid_t group) NAMED(fchown);
int chmod_(const char* path, mode_t mode) NAMED(chmod);
int fchmodat_(int at, const char* path, mode_t mode, int flags) NAMED(fchmodat);
int chown_(const char* path, uid_t owner, gid_t group) NAMED(chown);
int fchownat_(int at, const char* path, uid_t owner, gid_t group, int flags) NAMED(fchownat);
int rename_(const char* from, const char* to) NAMED(rename);
int renameat_(int at, const char* from, int to_at, const char* to) NAMED(renameat);
int renameat2_(int at, const char* from, int to_at, const char* to, unsigned flags)
    NAMED(renameat2);
int unlink_(const char* path) NAMED(unlink);
int unlinkat_(int at, const char* path, int flags) NAMED(unlinkat);

int open_(const char* path, int flags, mode_t mode) {
  return call("open", creates(flags) && is_below(path), path, flags, mode);
}

int open64_(const char* path, int flags, mode_t mode) {
  return call("open64", creates(flags) && is_below(path), path, flags, mode);
}

int openat_(int at, const char* path, int flags, mode_t mode) {
  return call("openat", creates(flags) && is_below(at, path), at, path, flags, mode);
}

int openat64_(int at, const char* path, int flags, mode_t mode) {
  return call("openat64", creates(flags) && is_below(at, path), at, path, flags, mode);
}

ssize_t write_(int file, const void* bytes, std::size_t size) {
  return write_half("write", file, bytes, size);
}

ssize_t pwrite_(int file, const void* bytes, std::size_t size, off64_t at) {
  return write_half("pwrite", file, bytes, size, at);
}

ssize_t pwrite64_(int file, const void* bytes, std::size_t size, off64_t at) {
  return write_half("pwrite64", file, bytes, size, at);
}

int ftruncate_(int file, off64_t size) { return call("ftruncate", is_below(file), file, size); }

int ftruncate64_(int file, off64_t size) { return call("ftruncate64", is_below(file), file, size); }

// Without a power failure, a sync changes nothing that a test could see, and it takes long.
int fsync_(int file) { return fails("fsync", is_below(file)) ? -1 : 0; }

int fdatasync_(int file) { return fails("fdatasync", is_below(file)) ? -1 : 0; }

int flock_(int file, int operation) { return call("flock", is_below(file), file, operation); }

int fchmod_(int file, mode_t mode) { return call("fchmod", is_below(file), file, mode); }

int fchown_(int file, uid_t owner, gid_t group) {
  return call("fchown", is_below(file), file, owner, group);
}

int chmod_(const char* path, mode_t mode) { return call("chmod", is_below(path), path, mode); }

int fchmodat_(int at, const char* path, mode_t mode, int flags) {
  return call("fchmodat", is_below(at, path), at, path, mode, flags);
}

int chown_(const char* path, uid_t owner, gid_t group) {
  return call("chown", is_below(path), path, owner, group);
}

int fchownat_(int at, const char* path, uid_t owner, gid_t group, int flags) {
  return call("fchownat", is_below(at, path), at, path, owner, group, flags);
}

int rename_(const char* from, const char* to) {
  return call("rename", is_below(from) || is_below(to), from, to);
}

int renameat_(int at, const char* from, int to_at, const char* to) {
  return call("renameat", is_below(at, from) || is_below(to_at, to), at, from, to_at, to);
}

int renameat2_(int at, const char* from, int to_at, const char* to, unsigned flags) {
  const bool concerned = is_below(at, from) || is_below(to_at, to);
  return call("renameat2", concerned, at, from, to_at, to, flags);
}

int unlink_(const char* path) { return call("unlink", is_below(path), path); }

int unlinkat_(int at, const char* path, int flags) {
  return call("unlinkat", is_below(at, path), at, path, flags);
}
}
