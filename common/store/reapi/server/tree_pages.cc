#include "common/store/reapi/server/tree_pages.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "common/base/wire_format.h"
#include "common/tree/wire_fields.h"
#include "fmt/format.h"

namespace galley::store {
namespace {

// The folders in a Directory of anybody: links and properties are not looked at. INVALID_ARGUMENT:
// it is none.
absl::StatusOr<std::vector<Digest>> FoldersIn(std::string_view directory) {
  std::vector<Digest> folders;
  for (WireReader reader(directory); !reader.AtEnd();) {
    ASSIGN_OR_RETURN(const WireReader::Field field, reader.Next());
    if (field.number != 2) continue;
    ASSIGN_OR_RETURN(const std::string_view node, tree::BytesOf(field, "directories"));
    for (WireReader parts(node); !parts.AtEnd();) {
      ASSIGN_OR_RETURN(const WireReader::Field part, parts.Next());
      if (part.number != 2) continue;
      ASSIGN_OR_RETURN(folders.emplace_back(), tree::DigestOf(part, "digest"));
    }
  }
  return folders;
}

}  // namespace

// The root's first digits, so that a token of another tree is noticed, and how many were told.
std::string TreePages::Token() const {
  return fmt::format("{}.{}", root_.hex().substr(0, 16), passed_);
}

absl::Status TreePages::Begin(std::string_view request) {
  ASSIGN_OR_RETURN(const GetTreeRequest asked, DecodeGetTree(request));
  RETURN_IF_ERROR(CheckInstance(options_, caller_, asked.instance));
  root_ = asked.root;
  page_size_ = asked.page_size == 0 ? SIZE_MAX : static_cast<size_t>(asked.page_size);
  const absl::StatusOr<Blob> root = store_.Get(root_);
  if (!root.ok()) return LossAsAbsence(root.status());
  RETURN_IF_ERROR(
      Annotate(FoldersIn(**root).status(), fmt::format("{} is no Directory", root_.ToString())));
  left_.push_back(root_);
  seen_.insert(root_);
  if (asked.page_token.empty()) return absl::OkStatus();

  size_t told = 0;
  const std::string_view digits =
      asked.page_token.substr(std::min<size_t>(17, asked.page_token.size()));
  std::from_chars(digits.data(), digits.data() + digits.size(), told);
  while (passed_ < told) {
    ASSIGN_OR_RETURN(const Blob directory, Next());
    if (directory == nullptr) break;
  }
  if (asked.page_token == Token()) return absl::OkStatus();
  return absl::InvalidArgumentError("page_token: expected one that was given for this root");
}

absl::StatusOr<Blob> TreePages::Next() {
  if (held_ != nullptr) return std::exchange(held_, nullptr);
  while (!left_.empty()) {
    const Digest digest = left_.front();
    left_.pop_front();
    const absl::StatusOr<Blob> blob = store_.Get(digest);
    if (absl::IsNotFound(blob.status()) || absl::IsDataLoss(blob.status())) continue;
    RETURN_IF_ERROR(blob.status());
    const absl::StatusOr<std::vector<Digest>> folders = FoldersIn(**blob);
    if (!folders.ok()) continue;
    for (const Digest& child : *folders) {
      if (seen_.size() == kTreeDirectoriesMax) {
        return ResourceExhaustedError("the tree has more than {} Directories", kTreeDirectoriesMax);
      }
      if (seen_.insert(child).second) left_.push_back(child);
    }
    ++passed_;
    return blob;
  }
  return Blob();
}

absl::StatusOr<Step> TreePages::Page() {
  WireWriter page;
  for (size_t count = 0;; ++count) {
    ASSIGN_OR_RETURN(Blob directory, Next());
    if (directory == nullptr) return Step{.reply = page.Take()};
    if (count == page_size_ ||
        (count > 0 && page.bytes().size() + directory->size() > kTreePageBytesMax)) {
      --passed_;
      page.Bytes(2, Token());
      ++passed_;
      held_ = std::move(directory);
      return Step{.reply = page.Take(), .next = Step::Next::kContinue};
    }
    page.Element(1, *directory);
  }
}

Step TreePages::OnMessage(std::string_view request) {
  const absl::Status begun = Begin(request);
  return begun.ok() ? OnContinue() : Step{.status = begun};
}

Step TreePages::OnContinue() {
  absl::StatusOr<Step> page = Page();
  return page.ok() ? *std::move(page) : Step{.status = page.status()};
}

}  // namespace galley::store
