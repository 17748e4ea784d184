// FakeReapi as a program, for end-to-end tests: prints its address, then obeys the lines that it
// reads, and answers each line with a line:
//
//   corrupt | hang | well      from now on
//   slow <ms> <n>              from now on, before each blob that it reads, for one in n blobs
//   overwrite                  from now on it accepts blobs again that it has
//   token <text>               from now on it demands this token
//   rot <n>                    one in n of its blobs gets a wrong byte
//   calls <method>             how often the method was called
//   empty                      drops all blobs and results
//   kill | restart             stops serving; serves again what it had
//   count                      "<blobs> <results>"

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

#include "fmt/format.h"
#include "tests/testing/fake_reapi.h"

int main() {
  galley::testing::FakeReapi server;
  std::cout << server.url() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer = "ok";
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "slow") {
      int64_t milliseconds = 0;
      galley::testing::FakeReapiManners manners;
      words >> milliseconds >> manners.slow_one_in;
      manners.read_delay = absl::Milliseconds(milliseconds);
      server.Set(manners);
    } else if (word == "rot") {
      uint64_t one_in = 1;
      words >> one_in;
      server.Rot(one_in);
    } else if (word == "token") {
      galley::testing::FakeReapiManners manners;
      words >> word;
      manners.token = "Bearer " + word;
      server.Set(manners);
    } else if (word == "calls") {
      words >> word;
      answer = fmt::format("{}", server.Calls(word));
    } else if (line == "overwrite") {
      server.Set({.overwrites = true});
    } else if (line == "corrupt") {
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
