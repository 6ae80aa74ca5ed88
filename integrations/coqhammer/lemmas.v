(* Lemmas to compare premise selectors: see README.md and bench/coqhammer.py. `sauto` alone proves none in 5 s. *)

From Hammer Require Import Hammer.
Require Import Arith List Lia ZArith.
Import ListNotations.

(* Natural numbers *)

Lemma divide_add_mul : forall a b c d : nat, Nat.divide a b -> Nat.divide a c -> Nat.divide a (b + c * d).
Proof. try hammer. Abort.
Lemma divide_chain : forall a b c d : nat, Nat.divide a b -> Nat.divide b c -> Nat.divide c d -> Nat.divide a d.
Proof. try hammer. Abort.
Lemma gcd_divides_mul : forall a b c : nat, Nat.divide (Nat.gcd a b) (b * c).
Proof. try hammer. Abort.
Lemma gcd_three : forall a b c : nat, Nat.gcd a (Nat.gcd b c) = Nat.gcd c (Nat.gcd b a).
Proof. try hammer. Abort.
Lemma even_double_plus : forall a b : nat, Nat.Even a -> Nat.Even b -> Nat.Even (b + a).
Proof. try hammer. Abort.
Lemma mod_twice : forall a n : nat, n <> 0 -> (a mod n) mod n mod n = a mod n.
Proof. try hammer. Abort.
Lemma div_le : forall a b : nat, b <> 0 -> b * (a / b) <= a + 0.
Proof. try hammer. Abort.
Lemma pow_add_comm : forall a b c : nat, a ^ (b + c) = a ^ c * a ^ b.
Proof. try hammer. Abort.
Lemma pow_mul_swap : forall a b c : nat, (a ^ b) ^ c = (a ^ c) ^ b.
Proof. try hammer. Abort.
Lemma pow_mul_both : forall a b c : nat, (a * b) ^ c = b ^ c * a ^ c.
Proof. try hammer. Abort.
Lemma eqb_swap : forall a b : nat, Nat.eqb a b = true -> Nat.eqb b a = true.
Proof. try hammer. Abort.
Lemma mul_le_cancel : forall a b c : nat, c <> 0 -> c * a <= c * b -> a <= b.
Proof. try hammer. Abort.

(* Lists *)

Lemma length_rev_app : forall (A : Type) (l m : list A), length (rev (l ++ m)) = length m + length l.
Proof. try hammer. Abort.
Lemma rev_app_three : forall (A : Type) (k l m : list A), rev (k ++ l ++ m) = (rev m ++ rev l) ++ rev k.
Proof. try hammer. Abort.
Lemma length_map_rev : forall (A B : Type) (f : A -> B) (l : list A), length (map f (rev l)) = length l.
Proof. try hammer. Abort.
Lemma map_app_rev : forall (A B : Type) (f : A -> B) (l m : list A),
  map f (rev (l ++ m)) = rev (map f m) ++ rev (map f l).
Proof. try hammer. Abort.
Lemma map_map_rev : forall (A B C : Type) (f : A -> B) (g : B -> C) (l : list A),
  map g (rev (map f l)) = rev (map (fun x => g (f x)) l).
Proof. try hammer. Abort.
Lemma in_app_swap : forall (A : Type) (x : A) (l m : list A), In x (l ++ m) -> In x (m ++ l).
Proof. try hammer. Abort.
Lemma in_rev_app : forall (A : Type) (x : A) (l m : list A), In x (rev l ++ m) -> In x (l ++ m).
Proof. try hammer. Abort.
Lemma in_map_app : forall (A B : Type) (f : A -> B) (x : A) (l m : list A), In x m -> In (f x) (map f (l ++ m)).
Proof. try hammer. Abort.
Lemma rev_nil_only : forall (A : Type) (l : list A), rev l = nil -> l = nil.
Proof. try hammer. Abort.
Lemma rev_same : forall (A : Type) (l m : list A), rev l = rev m -> l = m.
Proof. try hammer. Abort.
Lemma app_same_front : forall (A : Type) (k l m : list A), k ++ l = k ++ m -> rev l = rev m.
Proof. try hammer. Abort.
Lemma length_app_swap : forall (A : Type) (l m : list A), length (l ++ m) = length (m ++ l).
Proof. try hammer. Abort.
Lemma nodup_rev : forall (A : Type) (l : list A), NoDup l -> NoDup (rev l).
Proof. try hammer. Abort.
Lemma incl_app_swap : forall (A : Type) (k l m : list A), incl k m -> incl l m -> incl (l ++ k) m.
Proof. try hammer. Abort.
Lemma incl_chain : forall (A : Type) (k l m n : list A), incl k l -> incl l m -> incl m n -> incl k n.
Proof. try hammer. Abort.
Lemma forall_app_swap : forall (A : Type) (P : A -> Prop) (l m : list A), Forall P (l ++ m) -> Forall P (m ++ l).
Proof. try hammer. Abort.
Lemma exists_app_swap : forall (A : Type) (P : A -> Prop) (l m : list A), Exists P (l ++ m) -> Exists P (m ++ l).
Proof. try hammer. Abort.
Lemma filter_app_length : forall (A : Type) (f : A -> bool) (l m : list A),
  length (filter f (l ++ m)) = length (filter f l) + length (filter f m).
Proof. try hammer. Abort.
Lemma firstn_skipn_length : forall (A : Type) (n : nat) (l : list A),
  length (firstn n l) + length (skipn n l) = length l.
Proof. try hammer. Abort.
Lemma firstn_whole : forall (A : Type) (l m : list A), firstn (length l) (l ++ m) ++ nil = l.
Proof. try hammer. Abort.
Lemma fold_left_app_one : forall (A B : Type) (f : A -> B -> A) (l : list B) (b : B) (a : A),
  fold_left f (l ++ [b]) a = f (fold_left f l a) b.
Proof. try hammer. Abort.
Lemma fold_right_rev : forall (A B : Type) (f : A -> B -> A) (l : list B) (a : A),
  fold_left f (rev (rev l)) a = fold_right (fun x y => f y x) a (rev l).
Proof. try hammer. Abort.
Lemma nth_app_first : forall (A : Type) (l m : list A) (d : A) (n : nat),
  n < length l -> nth n (l ++ m) d = nth n l d.
Proof. try hammer. Abort.
Lemma seq_length_add : forall a b c : nat, length (seq a (b + c)) = c + b.
Proof. try hammer. Abort.

(* Integers *)

Open Scope Z_scope.

Lemma z_abs_triangle : forall a b c : Z, Z.abs (a + b) <= c -> Z.abs (b + a) <= c.
Proof. try hammer. Abort.
Lemma z_le_opp : forall a b : Z, a <= b -> - b <= - a.
Proof. try hammer. Abort.
Lemma z_divide_sub_mul : forall a b c d : Z, (a | b) -> (a | c) -> (a | b - d * c).
Proof. try hammer. Abort.
Lemma z_gcd_opp : forall a b : Z, Z.gcd (- a) (- b) = Z.gcd b a.
Proof. try hammer. Abort.
Lemma z_mod_bound : forall a b : Z, 0 < b -> 0 <= a mod b < b.
Proof. try hammer. Abort.
Lemma z_pow_add : forall a b c : Z, 0 <= b -> 0 <= c -> a ^ (c + b) = a ^ b * a ^ c.
Proof. try hammer. Abort.
Lemma z_square_nonneg : forall a b : Z, 0 <= a * a + b * b.
Proof. try hammer. Abort.
Lemma z_of_nat_le : forall a b c : nat, (a <= b)%nat -> Z.of_nat a <= Z.of_nat b.
Proof. try hammer. Abort.
Lemma z_gcd_three : forall a b c : Z, Z.gcd a (Z.gcd b c) = Z.gcd c (Z.gcd b a).
Proof. try hammer. Abort.
Lemma z_lcm_three : forall a b c : Z, Z.lcm a (Z.lcm b c) = Z.lcm c (Z.lcm b a).
Proof. try hammer. Abort.
Lemma z_land_three : forall a b c : Z, Z.land a (Z.land b c) = Z.land c (Z.land b a).
Proof. try hammer. Abort.
Lemma z_lor_twice : forall a b : Z, Z.lor (Z.lor a b) b = Z.lor b a.
Proof. try hammer. Abort.
Lemma z_shiftl_twice : forall a m n : Z, 0 <= m -> 0 <= n -> Z.shiftl (Z.shiftl a n) m = Z.shiftl a (m + n).
Proof. try hammer. Abort.
Lemma z_even_odd_add : forall a b : Z, Z.Even a -> Z.Odd b -> Z.Odd (b + a).
Proof. try hammer. Abort.
Lemma z_mod_twice : forall a b : Z, b <> 0 -> ((a mod b) mod b) mod b = a mod b.
Proof. try hammer. Abort.
Lemma z_divide_both_abs : forall a b : Z, (a | b) -> (b | a) -> Z.abs b = Z.abs a.
Proof. try hammer. Abort.
Lemma z_pow_mul_both : forall a b c : Z, (a * b) ^ c = b ^ c * a ^ c.
Proof. try hammer. Abort.
Lemma z_divide_mul_between : forall a b c d : Z, (a | b) -> (a | c * b * d).
Proof. try hammer. Abort.
