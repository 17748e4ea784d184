#include "common/store/reapi/server/tree_pages.h"

#include <set>
#include <string>
#include <vector>

#include "common/store/reapi/server/testing/reapi_messages.h"
#include "common/store/testing/memory_store.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::UnorderedElementsAre;

class TreePagesTest : public testing::Test {
 protected:
  // A folder with a file of the folder's name, and with these folders.
  Digest Folder(std::string_view name, const std::vector<Digest>& folders = {}) {
    reapi::Directory directory;
    auto& file = *directory.add_files();
    file.set_name(std::string(name));
    SetWire(Digest::Of("not here"), file.mutable_digest());
    for (const Digest& digest : folders) {
      auto& node = *directory.add_directories();
      node.set_name("d" + std::to_string(directory.directories_size()));
      SetWire(digest, node.mutable_digest());
    }
    return PutBytes(store_, directory.SerializeAsString());
  }
  struct Answer {
    std::vector<reapi::GetTreeResponse> pages;
    absl::Status status;
    std::multiset<std::string> names() const {
      std::multiset<std::string> names;
      for (const auto& page : pages)
        for (const auto& directory : page.directories())
          names.insert(directory.files_size() == 0 ? "" : directory.files(0).name());
      return names;
    }
  };
  Answer Get(const Digest& root, int page_size = 0, const std::string& token = "") {
    reapi::GetTreeRequest request;
    SetWire(root, request.mutable_root_digest());
    request.set_page_size(page_size);
    request.set_page_token(token);
    TreePages pages(store_, ReapiOptions{}, Caller{});
    Answer answer;
    for (Step step = pages.OnMessage(request.SerializeAsString());; step = pages.OnContinue()) {
      if (step.reply.has_value())
        answer.pages.push_back(Parsed<reapi::GetTreeResponse>(*step.reply));
      if (step.next != Step::Next::kContinue) {
        answer.status = step.status;
        return answer;
      }
    }
  }

  MemoryStore store_;
};

TEST_F(TreePagesTest, EachFolderComesOnce) {
  const Digest leaf = Folder("leaf");
  const Digest root = Folder("root", {Folder("a", {leaf}), Folder("b", {leaf, Digest()}), leaf});
  const Answer answer = Get(root);
  EXPECT_TRUE(answer.status.ok()) << answer.status;
  ASSERT_EQ(answer.pages.size(), 1u);
  EXPECT_EQ(answer.pages[0].next_page_token(), "");
  EXPECT_EQ(answer.pages[0].directories(0).files(0).name(), "root");
  EXPECT_THAT(answer.names(), UnorderedElementsAre("root", "a", "b", "leaf", ""));
}

TEST_F(TreePagesTest, WhatIsMissingIsLeftOutExceptTheRoot) {
  const Digest rotten = Folder("rotten"), no_directory = PutBytes(store_, "\xff");
  const Digest root = Folder("root", {Digest::Of("absent"), rotten, no_directory, Folder("a")});
  store_.Corrupt(rotten);
  EXPECT_THAT(Get(root).names(), UnorderedElementsAre("root", "a"));
  EXPECT_TRUE(Get(root).status.ok());
  EXPECT_TRUE(absl::IsNotFound(Get(Digest::Of("absent")).status));
  EXPECT_TRUE(absl::IsInvalidArgument(Get(no_directory).status));
}

TEST_F(TreePagesTest, PagesHoldWhatWasAskedForAndAreTakenUpAgain) {
  std::vector<Digest> folders;
  std::multiset<std::string> all = {"root"};
  for (int i = 0; i < 9; ++i) {
    all.insert(std::to_string(i));
    folders.push_back(Folder(std::to_string(i)));
  }
  const Digest root = Folder("root", folders);
  const Answer answer = Get(root, 4);
  ASSERT_EQ(answer.pages.size(), 3u);
  EXPECT_EQ(answer.pages[0].directories_size(), 4);
  EXPECT_EQ(answer.pages[1].directories_size(), 4);
  EXPECT_EQ(answer.pages[2].directories_size(), 2);
  EXPECT_EQ(answer.pages[2].next_page_token(), "");
  EXPECT_EQ(answer.names(), all);
  // From each token on comes everything that had not come.
  for (size_t page = 0; page + 1 < answer.pages.size(); ++page) {
    Answer rest = Get(root, 4, answer.pages[page].next_page_token());
    EXPECT_EQ(rest.pages.size(), 2 - page);
    rest.pages.insert(rest.pages.begin(), answer.pages.begin(),
                      answer.pages.begin() + static_cast<ptrdiff_t>(page) + 1);
    EXPECT_EQ(rest.names(), all);
  }
}

TEST_F(TreePagesTest, LargeFoldersMakePages) {
  std::vector<Digest> folders;
  for (char c = 'a'; c < 'f'; ++c) folders.push_back(Folder(std::string(400'000, c)));
  const Answer answer = Get(Folder("root", folders));
  EXPECT_EQ(answer.pages.size(), 3u);
  EXPECT_EQ(answer.names().size(), 6u);
}

TEST_F(TreePagesTest, TokensOfOthersAreRefused) {
  const Digest root = Folder("root", {Folder("a"), Folder("b")});
  const Digest other = Folder("other", {Folder("a"), Folder("b")});
  const std::string token = Get(root, 1).pages[0].next_page_token();
  EXPECT_TRUE(absl::IsInvalidArgument(Get(other, 1, token).status));
  for (const std::string& wrong :
       {std::string("x"), token + "x", token + "0", token.substr(1), std::string("1"),
        token.substr(0, 17) + "99999999999999999999", token.substr(0, 17) + "-1"})
    EXPECT_TRUE(absl::IsInvalidArgument(Get(root, 1, wrong).status)) << wrong;
}

// A tree may have any depth: the walk does not recurse.
TEST_F(TreePagesTest, AChainOf20000FoldersIsWalked) {
  Digest folder = Folder("leaf");
  for (int i = 0; i < 20'000; ++i) folder = Folder("f", {folder});
  EXPECT_EQ(Get(folder).names().size(), 20'001u);
}

}  // namespace
}  // namespace galley::store
