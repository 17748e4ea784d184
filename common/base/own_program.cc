#include "common/base/own_program.h"

#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

#include "common/base/file.h"

namespace galley {
namespace {

struct Own {
  std::string program;
  std::vector<std::string> loader;  // with its options; empty: the kernel started the program
};

// Source: getauxval(3). AT_BASE, where the loader lies, is 0 if the kernel started the loader
// itself; the loader then sets AT_EXECFN to the program that it was told to run (glibc,
// elf/rtld.c). It is called with an absolute path in its arguments, which /proc still has.
Own Look() {
  std::error_code error;
  const std::string running = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const auto* name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  if (::getauxval(AT_BASE) != 0 || name == nullptr) return {.program = running};
  const std::string program = name;
  const std::string real = std::filesystem::canonical(program, error).string();
  if (error || real == running) return {.program = running};
  Own own{.program = AbsolutePath(program), .loader = {running}};
  const auto arguments = ReadFile("/proc/self/cmdline");
  if (!arguments.ok()) return own;
  // The first of them is the loader, as it was called.
  size_t begin = arguments->find('\0') + 1;
  while (begin != 0 && begin < arguments->size()) {
    const std::string argument = arguments->c_str() + begin;
    if (argument == program) return own;
    own.loader.push_back(argument);
    begin = arguments->find('\0', begin) + 1;
  }
  return {.program = own.program, .loader = {running}};
}

const Own& OwnOnce() {
  static const Own& own = *new Own(Look());
  return own;
}

}  // namespace

const std::string& OwnProgram() { return OwnOnce().program; }

std::vector<std::string> CommandOf(const std::string& program) {
  std::vector<std::string> command = OwnOnce().loader;
  command.push_back(program);
  return command;
}

}  // namespace galley
