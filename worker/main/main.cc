// galley-worker: describe, cook, exec-action, session, executor; and galley-cook, when it is
// started by that name.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include "common/base/descriptor_limit.h"
#include "common/base/last_words.h"
#include "common/base/log.h"
#include "common/base/standard_descriptors.h"
#include "common/base/standard_output.h"
#include "common/base/status_macros.h"
#include "worker/main/commands.h"
#include "worker/main/cook_file.h"
#include "worker/main/describe_look.h"

namespace {

using galley::worker::CookFileFlags;
using galley::worker::SessionFlags;

int RunCook(int argc, char** argv) {
  CLI::App app("Runs one Action in its working directory", "galley-cook");
  std::string cooker;
  app.add_option("COOKER", cooker, "the cooker that the recipe names")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : galley::worker::kExitUsage;
  }
  return galley::worker::CookHere(cooker);
}

// An option that may be given again and again, with one value each time.
CLI::Option* AddList(CLI::App& app, const char* name, std::vector<std::string>& values,
                     const char* text) {
  return app.add_option(name, values, text)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::App* AddCookFile(CLI::App& app, CookFileFlags& flags) {
  CLI::App* cook =
      app.add_subcommand("cook", "runs one cooker on FILE by hand, with no project and no store");
  cook->add_option("FILE", flags.file, "the source")->required();
  cook->add_option("--cooker", flags.cooker,
                   "the cooker's name; default: the only one that takes the extension");
  cook->add_option("--settings", flags.settings,
                   R"(JSON over the defaults: {"quality":"thorough"})");
  AddList(*cook, "--platform", flags.parameters,
          "KEY=VALUE, repeatable; default: texture=bc and shader=spirv-1.5");
  AddList(*cook, "--mount", flags.mounts,
          "/VIRTUAL=DIR, repeatable: a folder for absolute virtual paths");
  cook->add_option("--out", flags.out, "folder for the outputs; default: the working directory");
  cook->add_option("--preview", flags.preview, "writes the cooked texture as this PNG");
  cook->add_flag("--json", flags.json, "prints one JSON object");
  return cook;
}

void AddLook(CLI::App& describe, galley::worker::LookFlags& flags) {
  CLI::Option* look = describe.add_option(
      "--look", flags.files,
      "FILE..., and - for names on standard input: prints what the cookers say about files, one "
      "JSON object a line");
  describe.add_option("--cooker", flags.cooker, "the cooker that looks; default: by extension")
      ->needs(look);
  describe.add_option("--settings", flags.settings, "JSON over the defaults of --cooker")
      ->needs(look);
  describe
      .add_flag("--outline", flags.is_outline,
                "looks at first bytes and texts only: nothing is decoded or compiled")
      ->needs(look);
  AddList(describe, "--platform", flags.parameters, "KEY=VALUE, repeatable: as for `cook`")
      ->needs(look);
  AddList(describe, "--mount", flags.mounts, "/VIRTUAL=DIR, repeatable: as for `cook`")
      ->needs(look);
}

int RunWorker(int argc, char** argv) {
  CLI::App app("The worker of Galley", "galley-worker");
  app.require_subcommand(1);
  CLI::App* describe =
      app.add_subcommand("describe", "prints the cookers, their settings and identities as JSON");
  galley::worker::LookFlags look_flags;
  AddLook(*describe, look_flags);
  CLI::App* walls = app.add_subcommand(
      "walls", "says why programs of `command` could change the project on this machine, if so");
  CLI::App* exec_action =
      app.add_subcommand("exec-action", "runs the Action in DIR with no director and no network");
  std::string directory;
  exec_action
      ->add_option("DIR", directory,
                   "the folder with action, command and input/; out/ is written into it")
      ->required();
  CookFileFlags file_flags;
  CLI::App* cook_file = AddCookFile(app, file_flags);
  CLI::App* session =
      app.add_subcommand("session", "works for a director until the director ends it");
  SessionFlags flags;
  session->add_option("--director", flags.config.director, "unix:/path or host:port")->required();
  session->add_option("--id", flags.config.worker_id, "name of this worker")->required();
  session->add_option("--slots", flags.config.slots, "number of executors")
      ->default_val(1)
      ->check(CLI::Range(1, 1024));
  AddList(*session, "--label", flags.labels,
          "repeatable: what this machine has, for jobs that ask");
  AddList(*session, "--resource", flags.resources, "NAME=N, repeatable: likewise, so many of it");
  session->add_flag("--without-files", flags.config.is_without_files,
                    "read nothing of the director's machine: bytes come from it, and go to it");
  session->add_option("--cache", flags.config.cache_directory,
                      "folder of what was fetched, shared by the workers of this machine");
  session->add_option("--shared-path", flags.config.shared_path,
                      "where this machine sees the project's folder");
  session->add_option("--cache-bytes", flags.config.cache_bytes_max, "that it may hold")
      ->default_val(10ull << 30);
  session->add_option("--scratch", flags.config.scratch_directory, "folder for temporary files")
      ->default_val("/tmp");
  session->add_option("--tls-ca", flags.tls_ca, "authority of the director's certificate (PEM)");
  session->add_option("--tls-cert", flags.tls_cert, "this worker's certificate (PEM)");
  session->add_option("--tls-key", flags.tls_key, "its key (PEM)");
  CLI::Option* stay = session->add_flag("--stay", flags.stays, "wait for a director for ever");
  session
      ->add_flag("--launched", flags.is_launched,
                 "end when no director answers within 8 s, or when it is away for a minute")
      ->excludes(stay);
  session->add_flag("--enroll", flags.enrolls,
                    "ask the director for the certificate, with the token");
  session->add_flag("--until-input-ends", flags.config.is_until_input_ends,
                    "end when the standard input does");
  CLI::App* executor = app.add_subcommand("executor", "internal: one executor of a session");
  executor->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : galley::worker::kExitUsage;
  }
  if (describe->parsed())
    return look_flags.files.empty() ? galley::worker::Describe()
                                    : galley::worker::DescribeLooks(look_flags);
  if (walls->parsed()) return galley::worker::TellWalls();
  if (cook_file->parsed()) return galley::worker::CookFile(file_flags);
  if (exec_action->parsed()) return galley::worker::ExecActionIn(directory);
  if (flags.config.is_without_files && flags.config.cache_directory.empty()) {
    std::fprintf(stderr, "galley-worker: --without-files needs --cache\n");
    return galley::worker::kExitUsage;
  }
  if (session->parsed()) return galley::worker::RunSessionWith(flags);
  return galley::worker::RunExecutorHere();
}

// An answer that was not printed as a whole is an error.
int CheckPrinted(int code) {
  std::cout.flush();
  const absl::Status printed = galley::FlushStandardOutput();
  if (printed.ok()) return code;
  std::fprintf(stderr, "galley-worker: %s\n", galley::MessageOf(printed).c_str());
  return code == 0 || code == galley::worker::kExitVerdict ? galley::worker::kExitOther : code;
}

}  // namespace

int main(int argc, char** argv) {
  galley::OpenStandardDescriptors();
  galley::SetLastWords("galley-worker", galley::worker::kExitOther);
  galley::RaiseDescriptorLimit();
  std::signal(SIGPIPE, SIG_IGN);  // whoever has ended behind a pipe of ours is an error of a write
  try {
    const bool is_cook = std::filesystem::path(argv[0]).filename() == "galley-cook";
    galley::InitLog(is_cook ? "galley-cook" : "galley-worker", galley::LogLevel::kInfo, "");
    return CheckPrinted(is_cook ? RunCook(argc, argv) : RunWorker(argc, argv));
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "galley-worker: %s\n", exception.what());
    return galley::worker::kExitOther;
  }
}
