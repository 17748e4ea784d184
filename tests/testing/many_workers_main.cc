// many_workers: many worker sessions in a process, for tests and benchmarks of a director
// (many_sessions.h).
#include <exception>

#include "CLI/CLI.hpp"
#include "common/base/descriptor_limit.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/wire/tls_pair.h"
#include "tests/testing/many_sessions.h"

namespace galley::testing {
namespace {

constexpr int kExitUsage = 2, kExitRefused = 3;

struct Flags {
  ManySessionsOptions options;
  std::string token_file, tls_ca, tls_cert, tls_key;
  double sleep_s = 0;
};

absl::Status Read(Flags& flags) {
  ASSIGN_OR_RETURN(flags.options.token, ReadFile(flags.token_file));
  while (flags.options.token.ends_with('\n')) flags.options.token.pop_back();
  flags.options.sleep = absl::Seconds(flags.sleep_s);
  if (flags.tls_ca.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const wire::TlsTexts texts,
                   wire::ReadTlsFiles(
                       {.certificate = flags.tls_cert, .key = flags.tls_key, .ca = flags.tls_ca}));
  flags.options.tls = {.ca = texts.ca, .certificate = texts.certificate, .key = texts.key};
  return absl::OkStatus();
}

int Run(int argc, char** argv) {
  CLI::App app("Many worker sessions in one process, whose jobs sleep.");
  Flags flags;
  ManySessionsOptions& options = flags.options;
  app.add_option("--director", options.director, "host:port")->required();
  app.add_option("--token-file", flags.token_file, "the director's farm-token")->required();
  app.add_option("--sessions", options.sessions, "how many")->default_val(1);
  app.add_option("--name", options.prefix, "of the workers, before their numbers")->required();
  app.add_option("--slots", options.slots, "of each session")->default_val(1);
  app.add_option("--sleep", flags.sleep_s, "seconds that each job takes")->default_val(0);
  app.add_option("--directory", options.directory, "where it may write")->required();
  app.add_option("--tls-ca", flags.tls_ca, "authority of the director's certificate (PEM)");
  app.add_option("--tls-cert", flags.tls_cert, "the workers' certificate (PEM)");
  app.add_option("--tls-key", flags.tls_key, "its key (PEM)");
  CLI11_PARSE(app, argc, argv);
  if (const absl::Status read = Read(flags); !read.ok()) {
    LogError("{}", MessageOf(read));
    return kExitUsage;
  }
  return RunManySessions(options) == 0 ? 0 : kExitRefused;
}

}  // namespace
}  // namespace galley::testing

int main(int argc, char** argv) {
  galley::RaiseDescriptorLimit();
  galley::InitLog("many_workers", galley::LogLevel::kInfo, "");
  try {
    return galley::testing::Run(argc, argv);
  } catch (const std::exception& exception) {
    galley::LogError("{}", exception.what());
    return galley::testing::kExitUsage;
  }
}
