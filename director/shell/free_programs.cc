#include "director/shell/free_programs.h"

#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr size_t kChangesNamed = 20;
constexpr size_t kWorkersNamed = 3, kPackagesNamed = 3;

// Returns "a", "a and b", or "a, b, c and 2 more".
template <typename Names>
std::string Listed(const Names& names, size_t named) {
  std::string text;
  size_t i = 0;
  for (const std::string& name : names) {
    if (i == named) break;
    const bool is_last = i + 1 == names.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + name;
    ++i;
  }
  return i < names.size() ? text + fmt::format(" and {} more", names.size() - i) : text;
}

}  // namespace

std::optional<std::string> FreeProgramsText(const FreePrograms& programs) {
  if (programs.workers.empty()) return std::nullopt;
  std::string text = fmt::format(
      "the programs of `command` could change the project on {} {}, for it cannot be"
      " made read-only for them there: {}",
      programs.workers.size() == 1 ? "worker" : "workers", Listed(programs.workers, kWorkersNamed),
      programs.why);
  if (!programs.blind.empty())
    text += fmt::format("; nor is it seen what they change: {}", programs.blind);
  return text;
}

std::vector<ProgramChange> ProgramChanges(const FreePrograms& programs) {
  std::vector<ProgramChange> told;
  for (const FreePrograms::Change& one : programs.changes) {
    if (told.size() == kChangesNamed) {
      const size_t more = programs.changes.size() - kChangesNamed;
      told.push_back({"", fmt::format("{} more {} changed while programs ran", more,
                                      more == 1 ? "file" : "files")});
      break;
    }
    const bool is_one = one.packages.size() == 1;
    told.push_back(
        {is_one ? one.packages[0] : "",
         fmt::format("{} {} while the {} of {} ran; if nobody else did "
                     "it, the program must write to {{output:SUFFIX}}, or in the folder in which "
                     "it runs",
                     one.path, one.what, is_one ? "program" : "programs",
                     Listed(one.packages, kPackagesNamed))});
  }
  return told;
}

}  // namespace galley::director
