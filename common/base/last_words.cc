#include "common/base/last_words.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>

namespace galley {
namespace {

std::string_view g_program;
int g_exit_code = 1;

rlim_t AddressSpace() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Takes no memory, and may be called in a signal handler.
void Write(std::string_view text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

void WriteNumber(uint64_t number) {
  std::array<char, 20> digits{};
  size_t at = digits.size();
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  Write({digits.data() + at, digits.size() - at});
}

[[noreturn]] void EndFor(std::string_view why) {
  Write(g_program);
  Write(": ");
  Write(why);
  if (const rlim_t bytes = AddressSpace(); bytes != RLIM_INFINITY) {
    Write("; its address space is limited to ");
    WriteNumber(bytes >> 20);
    Write(" MiB: raise that (ulimit -v unlimited)");
  }
  Write("\n");
  ::_exit(g_exit_code);
}

[[noreturn]] void OnTerminate() {
  // The exception that nobody caught is thrown again to see its type.
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    EndFor("ended, since there is no memory left");
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again)
      EndFor("ended, since no more threads can be started (memory, or ulimit -u)");
    std::fprintf(stderr, "ended by an error that nobody expected: %s\n", error.what());
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "ended by an error that nobody expected: %s\n", exception.what());
  } catch (...) {
  }
  std::abort();
}

void OnAbort(int) { EndFor("ended by an abort, most likely for want of memory"); }

// An allocator that is written in C may know no exceptions, but it asks this one.
void OnNoMemory() { throw std::bad_alloc(); }

}  // namespace

void SetLastWords(std::string_view program, int exit_code) {
  g_program = program;
  g_exit_code = exit_code;
  std::set_terminate(&OnTerminate);
  std::set_new_handler(&OnNoMemory);
  if (AddressSpace() != RLIM_INFINITY) std::signal(SIGABRT, &OnAbort);
}

}  // namespace galley
