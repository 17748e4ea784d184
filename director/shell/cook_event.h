// CookEvent: one event of a cook, for the terminal, the summary, the wire and the log (CookEvent of
// director.proto).
//
// Threads: none; a value. The owner of a CookEventSink says from which thread events come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "common/record/warning.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/shell/result_table.h"

namespace galley::director {

struct CookEvent {
  // Said: a line for people, such as "staged windows: 3 written".
  struct Said {
    std::string text;
    // True: shown even if other lines are not, because the cook waits for something.
    bool is_always_told = false;
  };
  // Scanned: the files were looked at.
  struct Scanned {
    size_t files = 0;
    size_t packages = 0;
    size_t unmatched = 0;  // files that no rule matches
    double seconds = 0;
    // Set if only listed paths were looked at (CookAsk::changed): their number.
    std::optional<uint64_t> listed = std::nullopt;
  };
  // Stands: packages keep their outcome of an earlier cook of the same ask, without events of their
  // own.
  struct Stands {
    uint64_t packages = 0;  // standing packages in the cook
    uint64_t failed = 0;    // standing packages that have failed
    uint64_t results = 0;   // pairs of package and platform that are done
    double seconds = 0;     // time of the check
    bool is_rest = false;   // true: other packages were looked at
  };
  // Failed: a package failed. An empty package: something else failed. An empty platform: failed on
  // every platform.
  struct Failed {
    std::string package;
    std::string platform;
    PackageFailed failure;
  };
  struct Warned {
    std::string package;
    std::string platform;
    record::Warning warning;
    // True: another cook of the same files would not warn.
    bool is_passing = false;
  };
  // Done: a package has a result. Revokes a failure of the package on this platform.
  struct Done {
    StoredResultPtr result;  // from the wire: only with package and platform
    ResultSource source = ResultSource::kCooked;
  };
  // Left: the package is no longer in the cook. Revokes all events about the package.
  struct Left {
    std::string package;
  };
  // Platforms: the platforms of the cook by name. Comes first, and again when an edited galley.toml
  // has other platforms. Revokes all events about other platforms.
  struct Platforms {
    std::vector<std::string> names;
  };
  // Progressed: replaces earlier progress.
  struct Progressed {
    Counters counters;
    Progress progress;
    // Director::RemoteDown; empty: unknown, or the remote is not down.
    std::string remote_down;
  };

  std::variant<Said, Scanned, Stands, Failed, Warned, Done, Left, Platforms, Progressed> what;
};

// CookEventSink: takes the events of a cook, or of a director that opens or closes, in order.
class CookEventSink {
 public:
  virtual ~CookEventSink() = default;
  virtual void TakeEvent(const CookEvent& event) = 0;

  template <typename What>
  void Tell(What what) {
    TakeEvent({std::move(what)});
  }
  void Say(std::string_view text) { Tell(CookEvent::Said{std::string(text)}); }
  void SayAlways(std::string_view text) { Tell(CookEvent::Said{std::string(text), true}); }
  // Tells a warning without a package.
  void Warn(record::WarningKind kind, std::string_view text) {
    Tell(CookEvent::Warned{"", "", {kind, std::string(text)}});
  }
  // Tells a passing warning without a package (CookEvent::Warned::is_passing).
  void WarnInPassing(record::WarningKind kind, std::string_view text) {
    Tell(CookEvent::Warned{"", "", {kind, std::string(text)}, /*is_passing=*/true});
  }
};

}  // namespace galley::director
