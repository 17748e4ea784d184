// GroupedMessages: failures or warnings of one cook, printed for a person once for each kind.
//
// Messages are of one kind when their stages are equal, and their texts are equal except for the
// parts of one package: names, paths, quoted words, numbers. New messages of a kind are printed
// together: the packages with their platforms, at most `named_max` packages; the others are
// counted. Messages of a kind that was printed already wait for TakeRest, which prints the whole
// kind anew.
//
// Pure.
// Cost: O(length of the texts).
// Threads: none.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace galley::cli {

struct Message {
  std::string package;
  std::string platform;  // empty: all platforms
  std::string stage;     // of a failure
  std::string text;
  std::string chosen_by;  // "texture by galley.toml:52"; empty: does not matter here
};

// Returns the text without the parts of one package.
std::string KindOf(std::string_view package, std::string_view text);

class GroupedMessages {
 public:
  struct Options {
    bool is_verbose = false;  // tells each message at once, and leaves nothing out
    size_t named_max = 20;
    std::string_view alike;  // "failed alike", "are warned alike"
  };

  explicit GroupedMessages(const Options& options) : options_(options) {}

  void Add(Message message);
  // Returns the paragraphs to print now, one for each kind, in the order in which the kinds came.
  // `platforms`: all platforms of the cook; a message for all of them names none.
  std::vector<std::string> TakeNew(const std::vector<std::string>& platforms);
  // Called at the end: returns the paragraphs of TakeNew, and the kinds that got more messages
  // after they were printed.
  std::vector<std::string> TakeRest(const std::vector<std::string>& platforms);

 private:
  // Member: a package with a text.
  struct Member {
    std::string package, text, chosen_by;
    std::set<std::string> platforms;
    bool is_told = false;   // told with all its platforms
    bool was_told = false;  // told with some platforms
  };
  struct Kind {
    std::vector<Member> members;
    bool has_news = false, is_told = false;
  };

  // Again: whether a paragraph repeats a kind: no; with more packages; or only with further
  // platforms, in which case the text is not printed twice.
  enum class Again { kNo, kWithMore, kOnPlatforms };
  std::string Paragraph(const std::vector<const Member*>& members,
                        const std::vector<std::string>& platforms, Again again) const;
  static std::string Conflicts(const std::vector<const Member*>& members);

  const Options options_;
  std::vector<Kind> kinds_;                              // in the order in which they came
  std::map<std::string, size_t> numbers_;                // by stage and KindOf
  std::map<std::pair<size_t, std::string>, size_t> at_;  // (kind, package and text) -> member
};

}  // namespace galley::cli
