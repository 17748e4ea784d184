// FakeReapi as a program, for end-to-end tests: prints its address, then does what it reads, a line
// each, and answers each line with one:
//
//   corrupt | hang | well      from now on
//   empty                      drops all that it has
//   kill | restart             stops serving; serves again what it had
//   count                      "<blobs> <results>"

#include <cstdio>
#include <iostream>
#include <string>

#include "fmt/format.h"
#include "tests/testing/fake_reapi.h"

int main() {
  galley::testing::FakeReapi server;
  std::cout << server.url() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer = "ok";
    if (line == "corrupt") {
      server.Set({.corrupts = true});
    } else if (line == "hang") {
      server.Set({.hangs = true});
    } else if (line == "well") {
      server.Set({});
    } else if (line == "empty") {
      server.Empty();
    } else if (line == "kill") {
      server.Kill();
    } else if (line == "restart") {
      server.Restart();
    } else if (line == "count") {
      answer = fmt::format("{} {}", server.blob_count(), server.result_count());
    } else {
      answer = "not known: " + line;
    }
    std::cout << answer << std::endl;
  }
  return 0;
}
