#include "common/base/own_program.h"

#include <link.h>

#include <cstdlib>

#include "common/base/file.h"
#include "common/base/program_output.h"
#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley {
namespace {

// The loader that this program asks for.
std::string Loader() {
  std::string loader;
  const auto look = [](dl_phdr_info* info, size_t, void* found) {
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
      if (info->dlpi_phdr[i].p_type == PT_INTERP)
        *static_cast<std::string*>(found) =
            reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    }
    return 1;
  };
  ::dl_iterate_phdr(look, &loader);
  return loader;
}

// In a process of its own: it prints how a program would be started.
TEST(OwnProgramChild, Prints) {
  for (const std::string& word : CommandOf("/x/other")) fmt::print("[{}]", word);
  fmt::print(" of {} in {}\n", OwnProgram(), ProgramDirectory());
}

std::string SaidBy(std::vector<std::string> argv) {
  argv.insert(argv.end(), {"--gtest_filter=OwnProgramChild.Prints", "--gtest_brief=1"});
  const auto ended = RunToEnd({.argv = std::move(argv)});
  EXPECT_TRUE(ended.ok() && ended->exit.ok()) << ended.status();
  return ended.ok() ? ended->output : "";
}

TEST(OwnProgramTest, TheKernelStartsProgramsByTheirPath) {
  EXPECT_THAT(SaidBy({OwnProgram()}),
              testing::HasSubstr(
                  fmt::format("[/x/other] of {} in {}\n", OwnProgram(), ProgramDirectory())));
}

TEST(OwnProgramTest, ALoaderStartsThemWithItsOwnOptions) {
  const std::string said = SaidBy({Loader(), "--library-path", "/a b:/c", OwnProgram()});
  EXPECT_THAT(
      said, testing::ContainsRegex(R"(\[/.*/ld-[^]]*\]\[--library-path\]\[/a b:/c\]\[/x/other\])"));
  EXPECT_THAT(said,
              testing::HasSubstr(fmt::format(" of {} in {}\n", OwnProgram(), ProgramDirectory())));
}

}  // namespace
}  // namespace galley
