#include "director/launch/bundle.h"

#include <link.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/plain_text.h"
#include "common/base/program_output.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "director/launch/template_text.h"
#include "director/launch/text_fields.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr const char* kPrograms[] = {"galley", "galley-worker"};
constexpr size_t kHeaderBytes = 32 << 10;  // the script, and the ends of lines
constexpr absl::Duration kListMax = absl::Seconds(30);

// {parts}: the place of a file in the bundle, from 1; its size; its name.
constexpr std::string_view kScript = R"sh(
galley_fail() { echo "galley: $*" >&2; exit 3; }
[ "$(uname -sm)" = '{platform}' ] || galley_fail "the programs are for {platform}, and this machine is $(uname -sm)"
command -v sha256sum >/dev/null || galley_fail "there is no sha256sum here (of coreutils or busybox), which verifies the programs"
galley_home=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
if [ -z "$galley_home" ]; then
  galley_home=/tmp/galley-$(id -u)
  mkdir -m 700 "$galley_home" 2>/dev/null
  galley_mode=$(LC_ALL=C ls -ld "$galley_home" 2>/dev/null)
  case $galley_mode in drwx------*) [ -O "$galley_home" ] ;; *) false ;; esac ||
    galley_fail "$galley_home: expected a folder, and no link, that user $(id -u) owns and nobody else may enter (mode 0700), since anybody may put something there: it is ${galley_mode:-not there}. Remove it, or set HOME or XDG_CACHE_HOME"
fi
galley_home=$galley_home/galley
(umask 077 && mkdir -p "$galley_home/programs") 2>/dev/null
[ -O "$galley_home" ] && [ -O "$galley_home/programs" ] && [ -w "$galley_home/programs" ] ||
  galley_fail "$galley_home/programs: expected a folder that user $(id -u) owns and can write; HOME or XDG_CACHE_HOME says where"
galley_dir=$galley_home/programs/{name}
galley_sums() {
  cat <<'GALLEY_END'
{sums}GALLEY_END
}
galley_parts() {
  cat <<'GALLEY_END'
{parts}GALLEY_END
}
galley_whole() { [ -O "$1" ] && (cd "$1" && galley_sums | sha256sum -c) >/dev/null 2>&1; }
galley_unpack() (
  umask 077
  new=$(mktemp -d "$galley_home/programs/new.XXXXXX") || galley_fail "$galley_home/programs: no folder can be made there"
  trap 'rm -rf "$new"' EXIT
  trap 'exit 3' HUP INT TERM
  all=$1
  [ -n "$all" ] || { all=$new/all && cat >"$all"; } || galley_fail "$all cannot be written"
  mkdir -p "$new/whole/lib"
  galley_parts | while read -r at size file; do
    tail -c "+$at" "$all" 2>/dev/null | head -c "$size" >"$new/whole/$file" || break
  done
  galley_whole "$new/whole" ||
    galley_fail "the programs ({size} bytes) did not come as they were sent, or $galley_home has no room for them: nothing of them is run"
  chmod 700 "$new/whole/galley" "$new/whole/galley-worker" "$new/whole/{loader}"
  [ ! -e "$galley_dir" ] || galley_whole "$galley_dir" || mv "$galley_dir" "$new/damaged"
  mv "$new/whole" "$galley_dir"
  rm -rf "$galley_dir/whole"
  find "$galley_home/programs" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} + 2>/dev/null
  galley_whole "$galley_dir" || galley_fail "$galley_dir: the programs are not whole there"
)
galley_exec() {
  touch "$galley_dir"
  exec "$galley_dir/{loader}" --inhibit-rpath '' --library-path "$galley_dir/lib" "$galley_dir/galley" "$@"
}
)sh";

constexpr std::string_view kRunItself = R"sh(
galley_whole "$galley_dir" || galley_unpack "$0" || exit 3
galley_exec "$@"
exit 3
)sh";

absl::Status Unfit(const std::string& what) {
  return FailedPreconditionError("[farm] program = \"bundle\": {}", what);
}

// Returns the loader that this program asks for; empty: none.
std::string LoaderOfThisProgram() {
  std::string loader;
  const auto look = [](dl_phdr_info* info, size_t, void* found) {
    for (size_t i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type == PT_INTERP)
        *static_cast<std::string*>(found) =
            reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
    }
    return 1;  // this program comes first
  };
  ::dl_iterate_phdr(look, &loader);
  return loader;
}

// Says whether the name needs no quoting in a shell and in a line of sha256sum.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         IsAlphanumericOr(name, "._+-");
}

// Adds what the loader would load for a program: path by name. Adds libraries for processors of any
// kind, because the machines may have other processors than this machine.
absl::Status AddLibraries(const std::string& loader, const std::string& program,
                          std::map<std::string, std::string>& libraries) {
  ASSIGN_OR_RETURN(const ProgramOutput listed,
                   RunToEnd({.argv = {loader, "--glibc-hwcaps-mask", "none", "--list", program},
                             .with_errors = true,
                             .wait_max = kListMax}));
  if (!listed.exit.ok())
    return Unfit(fmt::format("{} --list {}: {}", loader, program, HowItEnded(listed)));
  for (const std::string& line : SplitAt(listed.output, '\n')) {
    // Lines such as "libm.so.6 => /lib/libm.so.6 (0x7f...)", "/lib64/ld-linux-x86-64.so.2
    // (0x7f...)".
    const std::vector<std::string> words = WordsOf(line);
    if (words.size() == 2 && words[0] == loader) continue;
    if (words.size() == 2 && words[0].find('/') == std::string::npos) continue;  // the kernel's
    if (words.size() < 3 || words[1] != "=>") continue;
    if (!words[2].starts_with('/'))
      return Unfit(
          fmt::format("{} needs the library {}, which is missing here", program, words[0]));
    // A library that needs the loader names it by its path as well.
    if (words[0] == loader) continue;
    if (!IsPlainName(words[0]))
      return Unfit(
          fmt::format("{} needs a library by the name {}, which no other machine can have; "
                      "link it by a name without a folder",
                      program, words[0]));
    libraries[words[0]] = words[2];
  }
  return absl::OkStatus();
}

std::string SumsOf(const Bundle& bundle) {
  std::string sums;
  for (const BundledFile& file : bundle.files)
    sums += fmt::format("{}  {}\n", file.digest.hex(), file.name);
  return sums;
}

std::string PartsOf(const Bundle& bundle) {
  std::string parts;
  uint64_t at = kHeaderBytes + 1;
  for (const BundledFile& file : bundle.files) {
    parts += fmt::format("{} {} {}\n", at, file.digest.size_bytes(), file.name);
    at += file.digest.size_bytes();
  }
  return parts;
}

absl::StatusOr<std::string> HeaderOf(const Bundle& bundle) {
  std::string header = "#!/bin/sh" + BundleScript(bundle) + std::string(kRunItself);
  if (header.size() > kHeaderBytes)
    return Unfit(fmt::format("{} files are too many for it", bundle.files.size()));
  header.resize(kHeaderBytes, '\n');
  return header;
}

// Removes bundles of other builds.
void RemoveOthers(const std::string& folder, const std::string& but) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string() != but) std::filesystem::remove(entry.path(), error);
  }
}

}  // namespace

uint64_t Bundle::size_bytes() const {
  uint64_t sum = 0;
  for (const BundledFile& file : files) sum += file.digest.size_bytes();
  return sum;
}

absl::StatusOr<Bundle> BundleOf(const std::string& programs) {
  const std::string loader = LoaderOfThisProgram();
  const std::string loader_name = loader.substr(loader.rfind('/') + 1);
  if (loader.empty() || !IsPlainName(loader_name))
    return Unfit("this program has no loader that could be called by name");
  std::map<std::string, std::string> libraries{{loader_name, loader}};
  Bundle bundle{.loader = "lib/" + loader_name};
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string name : kPrograms) {
    files.emplace_back(name, JoinPath(programs, name));
    RETURN_IF_ERROR(AddLibraries(loader, files.back().second, libraries));
  }
  for (const auto& [name, path] : libraries) files.emplace_back("lib/" + name, path);
  for (const auto& [name, path] : files) {
    ASSIGN_OR_RETURN(const Digest digest, DigestOfFile(path));
    bundle.files.push_back({.name = name, .path = path, .digest = digest});
  }
  utsname system{};
  ::uname(&system);
  bundle.platform = fmt::format("{} {}", system.sysname, system.machine);
  bundle.name = Digest::Of(SumsOf(bundle)).hex();
  return bundle;
}

std::string BundleScript(const Bundle& bundle) {
  return FillIn(kScript, {{"platform", bundle.platform},
                          {"name", bundle.name},
                          {"loader", bundle.loader},
                          {"size", fmt::format("{}", bundle.size_bytes())},
                          {"sums", SumsOf(bundle)},
                          {"parts", PartsOf(bundle)}});
}

std::string BundleFile::FileNameOf(const Bundle& bundle) {
  return "galley-" + bundle.name.substr(0, 16);
}

absl::StatusOr<Bundle> BundleFile::Look() {
  const base::MutexLock lock(mutex_);
  if (!bundle_.has_value()) bundle_ = BundleOf(programs_);
  return *bundle_;
}

absl::StatusOr<std::string> BundleFile::Write() {
  ASSIGN_OR_RETURN(const Bundle bundle, Look());
  const base::MutexLock lock(mutex_);
  const std::string name = FileNameOf(bundle);
  std::string path = JoinPath(folder_, name);
  const auto there = StatFile(path);
  if (there.ok() && there->size_bytes == kHeaderBytes + bundle.size_bytes()) return path;
  RETURN_IF_ERROR(CreateDirectories(folder_));
  RemoveOthers(folder_, name);
  ASSIGN_OR_RETURN(const std::string header, HeaderOf(bundle));
  const std::string temporary = path + ".new";
  const auto stream = [&](const TakePiece& take) -> absl::Status {
    RETURN_IF_ERROR(take(header));
    for (const BundledFile& file : bundle.files) {
      DigestBuilder hash;
      RETURN_IF_ERROR(ReadInPieces(file.path, [&](std::string_view piece) {
        hash.Add(piece);
        return take(piece);
      }));
      if (hash.Finish() != file.digest)
        return Unfit(fmt::format("{} changed while Galley ran: start it anew", file.path));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(WriteInPieces(temporary, stream).status());
  if (::chmod(temporary.c_str(), 0755) != 0 || ::rename(temporary.c_str(), path.c_str()) != 0)
    return ErrnoStatus(errno, "make", path);
  return path;
}

}  // namespace galley::director
